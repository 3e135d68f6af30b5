package floor

import (
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Look gives the entries of a folder with what an lstat of each says, a line each. All processors look.
func Look(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	workers := runtime.GOMAXPROCS(0)
	texts, errs := make([]string, workers), make([]error, workers)
	var work sync.WaitGroup
	for n := range workers {
		work.Go(func() {
			texts[n], errs[n] = look(root, entries[len(entries)*n/workers:len(entries)*(n+1)/workers])
		})
	}
	work.Wait()
	for _, failed := range errs {
		err = errorOf(err, failed)
	}
	return strings.Join(texts, ""), err
}

func look(root *os.Root, entries []fs.DirEntry) (string, error) {
	var line []byte
	var b strings.Builder
	for _, e := range entries {
		info, err := root.Lstat(e.Name())
		if err != nil {
			return "", err
		}
		line = append(line[:0], e.Name()...)
		line = strconv.AppendInt(append(line, ' '), info.Size(), 10)
		line = info.ModTime().AppendFormat(append(line, ' '), time.RFC3339)
		line = append(append(append(line, ' '), info.Mode().String()...), '\n')
		b.Write(line)
	}
	return b.String(), nil
}

package floor

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// List gives the names in a folder, a line each.
func List(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.Name())
		b.WriteByte('\n')
	}
	return b.String(), err
}

// Walk gives the paths of the files below a folder whose names end in suffix, a line each.
func Walk(dir, suffix string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, suffix) {
			b.WriteString(path)
			b.WriteByte('\n')
		}
		return err
	})
	return b.String(), err
}

// Grep gives the files below a folder that hold a text, a line each, reading them on two workers: the obvious thing.
func Grep(ctx context.Context, dir, needle string) (string, error) {
	var (
		paths = make(chan string, 256)
		mu    sync.Mutex
		found strings.Builder
		work  sync.WaitGroup
	)
	for range 2 {
		work.Go(func() {
			buf := make([]byte, 64<<10)
			for path := range paths {
				text, err := into(&buf, path)
				if err == nil && bytes.Contains(text, []byte(needle)) {
					mu.Lock()
					fmt.Fprintf(&found, "%s: %s\n", path, needle)
					mu.Unlock()
				}
			}
		})
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			paths <- path
		}
		return errorOf(err, ctx.Err())
	})
	close(paths)
	work.Wait()
	return found.String(), err
}

func errorOf(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// into reads a file into a buffer that grows.
func into(buf *[]byte, path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n := 0
	for {
		if n == len(*buf) {
			*buf = append(*buf, make([]byte, len(*buf))...)
		}
		k, err := f.Read((*buf)[n:])
		n += k
		if k == 0 || err != nil {
			return (*buf)[:n], nil
		}
	}
}

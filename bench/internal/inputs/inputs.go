// Package inputs makes what all subjects work on: the same bytes on every machine. What is there already is left alone.
//
//	files/4k.txt 1m.txt 64m.txt 100m.txt 2g.txt   text that looks like source; 100m.txt is 10^8 bytes of lines of 100
//	flat                                          10,000 files in one folder
//	tree                                          10,000 entries, three levels deep
//	src1k src10k src100k                          so many files, as projects have them: 2 % are Go, four hold Needle
//	repo                                          10,000 commits and 200 tags
//	CHANGELOG.md                                  292 kB, many releases
package inputs

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
)

// Needle is a text that few files hold.
const Needle = "zqxjRareNeedleKvw"

// Want says which of the large inputs are made.
type Want struct{ Huge bool }

// Make makes the inputs below a folder. A part comes under its name when it is whole. say is told what is being made.
func Make(root string, want Want, say func(string)) error {
	parts := []struct {
		name string
		skip bool
		make func(path string) error
	}{
		{"files", false, files},
		{"files/2g.txt", !want.Huge, func(path string) error { return repeated(path, 2<<30) }},
		{"flat", false, func(path string) error { return entries(path, 10000, func(int) string { return "" }) }},
		{"tree", false, tree},
		{"src1k", false, func(path string) error { return source(path, 1000) }},
		{"src10k", false, func(path string) error { return source(path, 10000) }},
		{"src100k", false, func(path string) error { return source(path, 100000) }},
		{"repo", false, repository},
	}
	for _, p := range parts {
		path := filepath.Join(root, p.name)
		if _, err := os.Stat(path); err == nil || p.skip {
			continue
		}
		say("making " + p.name)
		unfinished := path + ".part"
		if err := os.RemoveAll(unfinished); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := p.make(unfinished); err != nil {
			return fmt.Errorf("input %s: %w", p.name, err)
		}
		if err := os.Rename(unfinished, path); err != nil {
			return err
		}
	}
	return nil
}

func files(dir string) error {
	r := rand.New(rand.NewSource(1))
	for _, f := range []struct {
		name string
		text []byte
	}{{"4k.txt", text(r, 4<<10)}, {"1m.txt", text(r, 1<<20)}, {"64m.txt", text(r, 64<<20)}} {
		if err := write(filepath.Join(dir, f.name), f.text); err != nil {
			return err
		}
	}
	return repeated(filepath.Join(dir, "100m.txt"), 100e6)
}

// repeated writes so many bytes of lines of 100.
func repeated(path string, size int) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	block := []byte(strings.Repeat(strings.Repeat("0123456789", 9)+"abcdefghi\n", 10000))
	for size > 0 && err == nil {
		n := min(size, len(block))
		_, err = f.Write(block[:n])
		size -= n
	}
	return err
}

// entries writes so many small files, each into the folder that in gives for it.
func entries(dir string, n int, in func(int) string) error {
	for i := range n {
		if err := write(filepath.Join(dir, in(i), fmt.Sprintf("entry-%05d.txt", i)), []byte("x\n")); err != nil {
			return err
		}
	}
	return nil
}

// tree is 9,000 files in 909 folders and their 9 parents.
func tree(dir string) error {
	return entries(dir, 9082, func(i int) string { return fmt.Sprintf("a%d/b%d", i/10%9, i/10) })
}

func write(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}

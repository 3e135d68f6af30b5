package jail

import (
	"io/fs"
	"os"
)

// dir is an open directory that does not show what the deny list hides.
type dir struct {
	*os.File
	hidden func(name string) bool
}

// Readdir implements [afero.File].
func (d *dir) Readdir(n int) ([]fs.FileInfo, error) {
	return visible(n, d.File.Readdir, func(i fs.FileInfo) bool { return d.hidden(i.Name()) })
}

// Readdirnames implements [afero.File].
func (d *dir) Readdirnames(n int) ([]string, error) {
	return visible(n, d.File.Readdirnames, d.hidden)
}

// ReadDir implements [fs.ReadDirFile].
func (d *dir) ReadDir(n int) ([]fs.DirEntry, error) {
	return visible(n, d.File.ReadDir, func(e fs.DirEntry) bool { return d.hidden(e.Name()) })
}

// visible reads until there is something to show: for n > 0 an empty batch
// without an error would look like a mistake of the directory's.
func visible[T any](n int, read func(int) ([]T, error), hidden func(T) bool) ([]T, error) {
	for {
		batch, err := read(n)
		shown := batch[:0]
		for _, entry := range batch {
			if !hidden(entry) {
				shown = append(shown, entry)
			}
		}
		if len(shown) > 0 || err != nil || n <= 0 {
			return shown, err
		}
	}
}

package install

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// staleDownload is how long a download that nobody went on with is kept.
const staleDownload = 7 * 24 * time.Hour

// Installed is a provider in the cache.
type Installed struct {
	Key
	// Bytes is what it takes on the disk.
	Bytes int64
}

// All lists the providers in the cache, in the order of their folders.
func (c Cache) All() ([]Installed, error) {
	var all []Installed
	err := c.walk(func(dir string, k Key) error {
		size, err := sizeOf(dir)
		all = append(all, Installed{Key: k, Bytes: size})
		return err
	})
	return all, err
}

// walk visits the folders of the providers, and passes over everything that is none.
func (c Cache) walk(visit func(dir string, k Key) error) error {
	const depth = 6
	top := c.providers()
	// With a separator at its end, a link is followed to the folder it leads to.
	err := filepath.WalkDir(top+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		elements := strings.Split(filepath.ToSlash(rel), "/")
		if len(elements) < depth {
			return nil
		}
		if k, ok := keyOfFolder(elements); ok {
			if err := visit(path, k); err != nil {
				return err
			}
		}
		return fs.SkipDir
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func sizeOf(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}

// Prune removes the providers that nobody needs, and what unfinished installs left. It waits for those that install
// now, and they for it; census is called while nobody does, and says what is needed. With dry set, nothing is removed.
func (c Cache) Prune(ctx context.Context, dry bool, waiting func(), census func() (needed func(Key) bool, err error)) ([]Installed, error) {
	h, err := c.holdAll(ctx, waiting)
	if err != nil {
		return nil, err
	}
	defer h.Release()
	needed, err := census()
	if err != nil {
		return nil, err
	}
	all, err := c.All()
	if err != nil {
		return nil, c.pruneFailed(err)
	}
	var gone []Installed
	for _, i := range all {
		if needed(i.Key) {
			continue
		}
		if !dry {
			if err := c.remove(i.Key); err != nil {
				return gone, c.pruneFailed(err)
			}
			c.removeEmpty(filepath.Dir(c.dir(i.Key)))
		}
		gone = append(gone, i)
	}
	if !dry {
		c.sweep(time.Now())
	}
	return gone, nil
}

func (c Cache) pruneFailed(err error) error {
	return &Error{Code: CacheFailed, Attempted: "prune the cache of providers", On: c.providers(), Reason: err.Error(), Err: err}
}

// removeEmpty removes folders that became empty, from the innermost on.
func (c Cache) removeEmpty(dir string) {
	for dir != c.providers() && os.Remove(dir) == nil {
		dir = filepath.Dir(dir)
	}
}

// sweep removes what unfinished installs and downloads left. Nobody installs meanwhile.
func (c Cache) sweep(now time.Time) {
	_ = filepath.WalkDir(c.providers()+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		if strings.HasPrefix(d.Name(), stagePrefix) || strings.HasPrefix(d.Name(), gonePrefix) {
			_ = os.RemoveAll(path)
			c.removeEmpty(filepath.Dir(path))
			return fs.SkipDir
		}
		return nil
	})
	c.sweepDownloads(now)
}

// sweepDownloads removes the parts of downloads that nobody went on with.
func (c Cache) sweepDownloads(now time.Time) {
	entries, _ := os.ReadDir(c.Downloads())
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > staleDownload {
			_ = os.RemoveAll(filepath.Join(c.Downloads(), e.Name()))
		}
	}
}

package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentco/agent/kernel/internal/lock"
	"github.com/agentco/agent/kernel/internal/registry"
)

// Mirrored is what Mirror did for one provider.
type Mirrored struct {
	Want
	Version string
	// Files are those of the release in the mirror, New those of them that were not there before.
	Files, New []string
	// From is where they came from.
	From string
}

// Mirror puts the providers into the folder of a mirror, for some platforms: the versions that are locked, and of
// providers that are not locked the newest that are allowed. What is in the folder already stays. Each file comes to be
// in one step, and the index that names them comes last.
func (i *Installer) Mirror(ctx context.Context, dir string, platforms []registry.Platform) ([]Mirrored, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// Two that write the same index would lose the one's versions.
	hold, err := i.Cache.HoldProject(ctx, dir, i.Waiting)
	if err != nil {
		return nil, err
	}
	defer hold.Release()
	old, err := lock.Read(lock.Path(i.Root), i.LockShown)
	if err != nil {
		return nil, err
	}
	var all []Mirrored
	for _, w := range i.Wants {
		m := &mirroring{Installer: i, dir: filepath.Join(dir, filepath.FromSlash(registry.MirrorFolder(w.Source))), out: Mirrored{Want: w}}
		locked, found := old.Provider(w.Name)
		if !found {
			locked = lock.Provider{}
		} else if why := w.Outdated(locked); why != "" {
			return all, &OutdatedError{Name: w.Name, Reason: why}
		}
		if err := m.copy(ctx, locked, platforms); err != nil {
			return all, err
		}
		all = append(all, m.out)
	}
	return all, nil
}

// mirroring is one provider on its way into a mirror.
type mirroring struct {
	*Installer
	dir string
	out Mirrored
}

func (m *mirroring) copy(ctx context.Context, locked lock.Provider, platforms []registry.Platform) error {
	release, err := m.release(ctx, locked)
	if err != nil {
		return err
	}
	m.out.Version, m.out.From = release.Version, release.From
	index, err := m.readIndex()
	if err != nil {
		return err
	}
	assets := release.Files()
	for _, p := range platforms {
		asset, err := release.Archive(p)
		if err != nil {
			return err
		}
		if sum, known := locked.Checksums[p]; known && string(sum) != asset.SHA256 {
			return changedRelease(release, p, sum, lock.Checksum(asset.SHA256))
		}
		assets = append(assets, asset)
	}
	for _, asset := range assets {
		if err := m.file(ctx, asset); err != nil {
			return err
		}
		m.out.Files = append(m.out.Files, asset.Name)
	}
	return m.writeIndex(index)
}

func (m *mirroring) release(ctx context.Context, locked lock.Provider) (*registry.Release, error) {
	query := registry.Query{Source: m.out.Source, Constraint: m.out.Constraint, Key: m.out.Key, Platform: m.Platform}
	if locked.Version != "" {
		return m.Registry.Pinned(ctx, query, locked.Version)
	}
	return m.Registry.Resolve(ctx, query)
}

// file puts one file into the folder of its version, unless the same is there.
func (m *mirroring) file(ctx context.Context, asset registry.Asset) error {
	path := filepath.Join(m.dir, m.out.Version, asset.Name)
	if asset.SHA256 != "" {
		if there, err := openRegular(path); err == nil {
			sum, err := lock.Sum(there)
			_ = there.Close()
			if err == nil && string(sum) == asset.SHA256 {
				return nil
			}
		}
	}
	err := writeWhole(path, func(f *os.File) error {
		if asset.SHA256 != "" {
			return m.Registry.Download(ctx, asset, f, func(done, total int64) {
				if m.Progress != nil {
					m.Progress(asset.Name, done, total)
				}
			})
		}
		data, err := m.Registry.Fetch(ctx, asset) // a checksums file, which was verified as far as it can be
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return err
	})
	if err == nil {
		m.out.New = append(m.out.New, asset.Name)
	}
	return m.failed(err, path)
}

func (m *mirroring) indexPath() string { return filepath.Join(m.dir, registry.IndexName) }

// readIndex is what the mirror says it has; an index that is none is somebody else's file.
func (m *mirroring) readIndex() (index registry.MirrorIndex, err error) {
	old, err := readRegular(m.indexPath())
	if errors.Is(err, fs.ErrNotExist) {
		return index, nil
	}
	if err == nil {
		index, err = registry.ParseMirrorIndex(old)
	}
	return index, m.failed(err, m.indexPath())
}

// writeIndex adds the version to it.
func (m *mirroring) writeIndex(index registry.MirrorIndex) error {
	path := m.indexPath()
	if index.Versions == nil {
		index.Versions = map[string]registry.MirrorRelease{}
	}
	files := append(slices.Clone(index.Versions[m.out.Version].Files), m.out.Files...)
	slices.Sort(files)
	index.Versions[m.out.Version] = registry.MirrorRelease{Files: slices.Compact(files)}
	text, err := index.Marshal()
	if err != nil {
		return m.failed(err, path)
	}
	return m.failed(writeWhole(path, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	}), path)
}

func (m *mirroring) failed(err error, path string) error {
	if err == nil || registry.CodeOf(err) != "" {
		return err
	}
	return &Error{Code: CacheFailed, Attempted: fmt.Sprintf("mirror %s %s", m.out.Source, m.out.Version), On: path, Reason: err.Error(), Err: err}
}

// writeWhole writes a file that is there with all its content, or as it was before.
func writeWhole(path string, write func(*os.File) error) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	clearNew(dir, time.Now())
	temp, err := os.CreateTemp(dir, newPrefix+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}()
	if err = write(temp); err == nil {
		err = errors.Join(temp.Chmod(0o644), temp.Sync())
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err = os.Rename(temp.Name(), path); err == nil {
		syncFolder(dir)
	}
	return err
}

// newPrefix is what the name of a file begins with that is not in its place yet.
const newPrefix = ".new-"

// staleNew is how long nothing was written to a file that somebody still writes: longer than any download may stall.
const staleNew = time.Hour

// clearNew removes what was to become a file long ago: who wrote it was killed.
func clearNew(dir string, now time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), newPrefix) && now.Sub(info.ModTime()) > staleNew {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

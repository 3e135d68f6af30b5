package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-version"

	"github.com/agentco/agent/kernel/internal/lock"
	"github.com/agentco/agent/kernel/internal/registry"
)

// item is one provider on its way.
type item struct {
	*run
	choice Choice
	// pinned is set when the lock file decides on the version.
	pinned bool
	// done is set when the provider is installed and locked as it should be.
	done   bool
	key    Key
	asset  registry.Asset
	staged *Staged
}

// look finds out what the lock file and the cache know.
func (i *item) look() error {
	w := i.choice.Want
	locked, found := i.old.Provider(w.Name)
	if !found {
		if i.ReadOnly {
			return &OutdatedError{Name: w.Name, Reason: "the lock file does not have it"}
		}
		return nil
	}
	i.choice.Previous = locked.Version
	if why := w.Outdated(locked); why != "" {
		if i.ReadOnly {
			return &OutdatedError{Name: w.Name, Reason: why}
		}
		i.choice.Why = why
		return nil
	}
	if i.Upgrade {
		return nil
	}
	key, ok := KeyOf(locked, i.Platform)
	if !ok {
		return i.notLocked(locked)
	}
	i.pinned, i.key = true, key
	i.choice.Locked, i.choice.Why = locked.Clone(), "locked"
	if why := w.Unsigned(locked); why != "" {
		i.choice.Warnings = append(i.choice.Warnings, why+"; it is verified now")
		return nil
	}
	return i.lookIntoCache()
}

func (i *item) notLocked(p lock.Provider) error {
	return &Error{Code: PlatformNotLocked, Attempted: "install " + p.Source.String() + " " + p.Version, On: i.LockShown,
		Reason: fmt.Sprintf("the lock file has no checksum for %s, only for %s: add it with agent providers lock --platform %s",
			i.Platform, platformList(p), i.Platform)}
}

func platformList(p lock.Provider) string {
	text := ""
	for n, platform := range p.Platforms() {
		if n > 0 {
			text += ", "
		}
		text += platform.String()
	}
	return text
}

// lookIntoCache ends the work when the provider is installed. A copy that was changed is to be replaced.
func (i *item) lookIntoCache() error {
	program, err := i.Cache.Verify(i.key, i.choice.Locked.Programs[i.Platform])
	var e *Error
	switch {
	case err == nil:
		i.installed(program)
		i.done = true
		i.choice.From, i.choice.Verified = "cache", "the lock file"
		return nil
	case errors.As(err, &e) && e.Code == NotInstalled && !i.Cache.Installed(i.key):
		return nil
	case errors.As(err, &e) && e.Code == CacheFailed:
		return err
	default:
		i.choice.Warnings = append(i.choice.Warnings, "the copy in the cache was damaged and is replaced: "+err.Error())
		return nil
	}
}

// installed notes what the program hashes to.
func (i *item) installed(program lock.Checksum) {
	if i.choice.Locked.Programs == nil {
		i.choice.Locked.Programs = map[registry.Platform]lock.Checksum{}
	}
	i.choice.Locked.Programs[i.Platform] = program
}

// resolve asks where the provider is released, unless that is not needed.
func (i *item) resolve(ctx context.Context) error {
	if i.done {
		return nil
	}
	w := i.choice.Want
	query := registry.Query{Source: w.Source, Constraint: w.Constraint, Key: w.Key, Platform: i.Platform}
	var release *registry.Release
	var err error
	if i.pinned {
		release, err = i.Registry.Pinned(ctx, query, i.choice.Locked.Version)
	} else {
		release, err = i.Registry.Resolve(ctx, query)
	}
	if err != nil {
		return err
	}
	return i.take(release)
}

// take makes a release the choice.
func (i *item) take(release *registry.Release) error {
	asset, err := release.Archive(i.Platform)
	if err != nil {
		return err
	}
	if err := i.lockTo(release, lock.Checksum(asset.SHA256)); err != nil {
		return err
	}
	i.asset = asset
	i.choice.From, i.choice.Verified = release.From, release.Verified()
	if i.pinned {
		i.choice.Verified = "the lock file; " + release.Verified()
	}
	i.choice.Warnings = append(i.choice.Warnings, release.Warnings...)
	i.key, _ = KeyOf(i.choice.Locked, i.Platform)
	program, err := i.Cache.Verify(i.key, i.choice.Locked.Programs[i.Platform])
	if err == nil {
		i.installed(program)
		i.done = true
	}
	return nil
}

// lockTo puts the release into the entry of the lock file. What is locked already stays; what contradicts it is refused.
func (i *item) lockTo(release *registry.Release, archive lock.Checksum) error {
	entry, known := i.old.Provider(i.choice.Name)
	if !known || entry.Source != i.choice.Source || entry.Version != release.Version {
		entry = lock.Provider{Name: i.choice.Name, Source: i.choice.Source, Version: release.Version, ResolvedAt: now()}
	}
	entry = entry.Clone()
	if entry.Checksums == nil {
		entry.Checksums = map[registry.Platform]lock.Checksum{}
	}
	if locked, ok := entry.Checksums[i.Platform]; ok && locked != archive {
		return changedRelease(release, i.Platform, locked, archive)
	}
	if !i.pinned {
		if i.choice.Why == "" && i.older(release) {
			i.choice.Warnings = append(i.choice.Warnings, fmt.Sprintf("%s, which was locked, is no longer offered by %s: %s is older", i.choice.Previous, release.From, release.Version))
		}
		i.choice.Why = i.why(release)
		for platform, sum := range release.Checksums() {
			if _, ok := entry.Checksums[platform]; !ok {
				entry.Checksums[platform] = lock.Checksum(sum)
			}
		}
	}
	if release.SignedBy != "" {
		entry.SignedBy = release.SignedBy
	}
	i.choice.Locked = entry
	return nil
}

func changedRelease(release *registry.Release, on registry.Platform, locked, released lock.Checksum) error {
	return &Error{Code: ChecksumMismatch, Attempted: fmt.Sprintf("install %s %s %s", release.Source, release.Version, on), On: release.From,
		Reason: fmt.Sprintf("expected %s, as the lock file says, got %s from %s: the release was changed after it was locked. Nothing was installed; ask the provider's authors why",
			locked, released, release.ChecksumsFile)}
}

// why says how the version came about.
func (i *item) why(release *registry.Release) string {
	switch previous := i.choice.Previous; {
	case previous == "":
		return release.Reason
	case i.choice.Why != "":
		return i.choice.Why + "; " + release.Reason
	case previous == release.Version:
		return "locked, and " + release.Reason
	case i.older(release):
		return "instead of " + previous + "; " + release.Reason
	default:
		return "upgraded from " + previous + "; " + release.Reason
	}
}

// older reports whether the release is older than what was locked.
func (i *item) older(release *registry.Release) bool {
	previous, err := version.NewVersion(i.choice.Previous)
	chosen, err2 := version.NewVersion(release.Version)
	return errors.Join(err, err2) == nil && chosen.LessThan(previous)
}

// fetch downloads the archive and unpacks it beside its place.
func (i *item) fetch(ctx context.Context) error {
	if i.done {
		return nil
	}
	// Another process may have installed it for another project while this one waited.
	want := i.choice.Locked.Programs[i.Platform]
	if program, err := i.Cache.Verify(i.key, want); err == nil {
		i.installed(program)
		return nil
	}
	archive, err := i.download(ctx)
	if err != nil {
		return err
	}
	staged, err := i.Cache.Stage(i.key, archive)
	if err != nil {
		var e *Error
		if errors.As(err, &e) && e.ofArchive() {
			e.On = i.asset.Name + " from " + i.choice.From // the copy of it goes
			_ = os.Remove(archive)
			_ = os.Remove(filepath.Dir(archive)) // unless there is more
		}
		return err
	}
	i.staged = staged
	if want != "" && staged.Program != want {
		return &Error{Code: ChecksumMismatch, Attempted: "install " + i.key.String(), On: i.LockShown,
			Reason: fmt.Sprintf("the lock file expects a program of %s, and the archive that it locks holds one of %s: somebody changed the lock file by hand", want, staged.Program)}
	}
	i.installed(staged.Program)
	return nil
}

// download goes on with what an earlier try left, and leaves what it has to the next one.
func (i *item) download(ctx context.Context) (path string, err error) {
	dir := i.Cache.Downloads()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", i.Cache.failed("download", i.key, err)
	}
	// Two sources may release the same archive, and be fetched at the same time.
	path = filepath.Join(dir, part(i.key)+short(i.key.folder()))
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return "", i.Cache.failed("download", i.key, err)
	}
	_ = os.Chtimes(path, time.Time{}, time.Now()) // it is gone on with: nobody sweeps it away
	err = i.Registry.Download(ctx, i.asset, file, func(done, total int64) {
		if i.Progress != nil {
			i.Progress(i.choice.Name, done, total)
		}
	})
	left, statErr := file.Stat()
	if err := errors.Join(err, file.Close()); err != nil {
		if statErr != nil || left.Size() == 0 {
			_ = os.Remove(path)
			_ = os.Remove(dir) // unless there is more
		}
		return "", err
	}
	return path, nil
}

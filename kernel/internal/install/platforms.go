package install

import (
	"context"
	"os"

	"github.com/agentco/agent/kernel/internal/lock"
	"github.com/agentco/agent/kernel/internal/registry"
)

// LockPlatforms adds the checksums of further platforms to the lock file, of the archives and the programs in them. What
// is locked stays; providers that are not locked yet are chosen. Nothing is installed.
func (i *Installer) LockPlatforms(ctx context.Context, platforms []registry.Platform) (*Result, error) {
	project, err := i.Cache.HoldProject(ctx, i.Root, i.Waiting)
	if err != nil {
		return nil, err
	}
	defer project.Release()
	old, err := lock.Read(lock.Path(i.Root), i.LockShown)
	if err != nil {
		return nil, err
	}
	r := &run{Installer: i, old: old}
	for _, w := range i.Wants {
		r.items = append(r.items, &item{run: r, choice: Choice{Want: w}})
	}
	if err := r.each(func(i *item) error { return i.lockPlatforms(ctx, platforms) }); err != nil {
		return nil, err
	}
	result := r.result()
	if result.LockWritten {
		return result, r.next().Write(lock.Path(i.Root))
	}
	return result, nil
}

func (i *item) lockPlatforms(ctx context.Context, platforms []registry.Platform) error {
	for _, platform := range platforms {
		on := *i.Installer
		on.Platform = platform
		run := &run{Installer: &on, old: i.old}
		one := &item{run: run, choice: Choice{Want: i.choice.Want}}
		if i.choice.Locked.Version != "" { // with what the platform before added
			run.old = &lock.File{}
			run.old.Set(i.choice.Locked)
		}
		if err := one.lockOne(ctx); err != nil {
			return err
		}
		i.choice = one.choice
	}
	return nil
}

// lockOne locks the provider for the platform of its run.
func (i *item) lockOne(ctx context.Context) error {
	w := i.choice.Want
	locked, found := i.old.Provider(w.Name)
	query := registry.Query{Source: w.Source, Constraint: w.Constraint, Key: w.Key, Platform: i.Platform}
	ask := func() (*registry.Release, error) { return i.Registry.Resolve(ctx, query) }
	if found {
		i.choice.Previous = locked.Version
		if why := w.Outdated(locked); why != "" {
			return &OutdatedError{Name: w.Name, Reason: why}
		}
		if _, known := locked.Programs[i.Platform]; known && w.Unsigned(locked) == "" {
			i.choice.Locked, i.choice.Why, i.choice.From, i.choice.Verified = locked.Clone(), "locked", "lock file", "the lock file"
			return nil
		}
		ask = func() (*registry.Release, error) { return i.Registry.Pinned(ctx, query, locked.Version) }
	}
	release, err := ask()
	if err != nil {
		return err
	}
	if err := i.take(release); err != nil {
		return err
	}
	if found {
		i.choice.Why = "locked"
	}
	return i.lockProgram(ctx)
}

// lockProgram looks into the archive.
func (i *item) lockProgram(ctx context.Context) error {
	if i.done {
		return nil
	}
	hold, err := i.Cache.Hold(ctx, i.Waiting, i.key)
	if err != nil {
		return err
	}
	defer hold.Release()
	path, err := i.download(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(path) }()
	program, err := i.Cache.inspect(i.key, path)
	if err != nil {
		return err
	}
	i.installed(program)
	return nil
}

// inspect returns the checksum of the program in a downloaded archive.
func (c Cache) inspect(k Key, path string) (lock.Checksum, error) {
	archive, err := os.Open(path)
	if err != nil {
		return "", c.failed("look into the archive of", k, err)
	}
	defer archive.Close()
	program, err := unpack(archive, k.Program(), nowhere{})
	if err != nil {
		return "", c.failed("look into the archive of", k, err)
	}
	return program, nil
}

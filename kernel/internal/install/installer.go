package install

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/agentco/agent/kernel/internal/lock"
	"github.com/agentco/agent/kernel/internal/registry"
)

// Installer brings the lock file and the cache to what a project requires. It changes either both or, when anything
// fails, neither.
type Installer struct {
	Cache    Cache
	Registry *registry.Client
	Platform registry.Platform
	// Root is the folder of the project, LockShown what problems call its lock file.
	Root, LockShown string
	Wants           []Want
	// Known are the names that the lock file may keep beside those of Wants.
	Known []string

	// Upgrade chooses anew, whatever is locked.
	Upgrade bool
	// ReadOnly fails instead of changing the lock file.
	ReadOnly bool
	// DryRun only chooses: nothing is downloaded, installed or locked.
	DryRun bool

	// Waiting is called when another process is at the same work; nil when nobody wants to know.
	Waiting func()
	// Progress is told of downloads, from several goroutines at once; nil when nobody wants to know. done is as of the
	// bytes that are there, total 0 while it is not known.
	Progress func(provider string, done, total int64)
}

// Run does the work. With everything locked and in the cache it asks nobody and changes nothing. It joins the errors of
// the providers: an *Error, an *OutdatedError, a *registry.Error or a *lock.InvalidError each.
func (i *Installer) Run(ctx context.Context) (*Result, error) {
	// Prune must not take away what is installed but not locked yet, nor what it did not know that this project needs.
	use, unheld := i.Cache.Use(ctx)
	if unheld == nil {
		defer use.Release()
	}
	r, err := i.begin()
	if err != nil {
		return nil, err
	}
	if r.settled() {
		return r.result(), nil
	}
	if unheld != nil { // a cache that cannot be written to can only be used as it is
		return nil, unheld
	}
	project, err := i.Cache.HoldProject(ctx, i.Root, i.Waiting)
	if err != nil {
		return nil, err
	}
	defer project.Release()
	if r, err = i.begin(); err != nil { // another process may have done it
		return nil, err
	}
	return r.finish(ctx)
}

// run is one go at it: everything that was read at one moment.
type run struct {
	*Installer
	old   *lock.File
	items []*item
	// unused are the names that are not in the new lock file.
	unused []string
	// fetching lets one item at a time fetch: two names may stand for one provider.
	fetching sync.Map // of *sync.Mutex, by Key
}

// alone runs work while no other item with that key does.
func (r *run) alone(k Key, work func() error) error {
	mu, _ := r.fetching.LoadOrStore(k, &sync.Mutex{})
	mu.(*sync.Mutex).Lock()
	defer mu.(*sync.Mutex).Unlock()
	return work()
}

// begin reads the lock file and finds out what is there.
func (i *Installer) begin() (*run, error) {
	old, err := lock.Read(lock.Path(i.Root), i.LockShown)
	if err != nil {
		return nil, err
	}
	r := &run{Installer: i, old: old}
	for _, w := range i.Wants {
		r.items = append(r.items, &item{run: r, choice: Choice{Want: w}})
	}
	for _, p := range old.Providers {
		wanted := slices.ContainsFunc(i.Wants, func(w Want) bool { return w.Name == p.Name })
		if !wanted && !slices.Contains(i.Known, p.Name) {
			r.unused = append(r.unused, p.Name)
		}
	}
	if err := r.each((*item).look); err != nil {
		return nil, err
	}
	return r, nil
}

// settled reports whether nothing has to be asked, fetched or written.
func (r *run) settled() bool {
	return !slices.ContainsFunc(r.items, func(i *item) bool { return !i.done }) && !r.mustWrite()
}

func (r *run) mustWrite() bool { return !r.ReadOnly && !r.next().Equal(r.old) }

// next is the lock file as it should be.
func (r *run) next() *lock.File {
	next := &lock.File{}
	for _, p := range r.old.Providers {
		if !slices.Contains(r.unused, p.Name) {
			next.Set(p)
		}
	}
	for _, i := range r.items {
		if i.choice.Locked.Version != "" {
			next.Set(i.choice.Locked)
		}
	}
	return next
}

func (r *run) finish(ctx context.Context) (*Result, error) {
	if err := r.each(func(i *item) error { return i.resolve(ctx) }); err != nil {
		return nil, err
	}
	if r.DryRun {
		return r.result(), nil
	}
	if err := r.install(ctx); err != nil {
		return nil, err
	}
	return r.result(), nil
}

func (r *run) result() *Result {
	out := &Result{Unused: r.unused, LockWritten: r.mustWrite()}
	for _, i := range r.items {
		out.Choices = append(out.Choices, i.choice)
	}
	return out
}

// install downloads and unpacks what is missing, and once all of it is there, puts it and the lock file into place.
func (r *run) install(ctx context.Context) error {
	var keys []Key
	for _, i := range r.items {
		if !i.done {
			keys = append(keys, i.key)
		}
	}
	hold, err := r.Cache.Hold(ctx, r.Waiting, keys...)
	if err != nil {
		return err
	}
	defer hold.Release()
	r.Cache.sweepDownloads(time.Now())
	if err := r.each(func(i *item) error { return r.alone(i.key, func() error { return i.fetch(ctx) }) }); err != nil {
		return r.discard(err)
	}
	if !r.mustWrite() {
		return r.commit()
	}
	pending, err := r.next().Prepare(lock.Path(r.Root))
	if err != nil {
		return r.discard(err)
	}
	if err := r.commit(); err != nil {
		pending.Discard()
		return err
	}
	return pending.Commit()
}

// commit puts what was unpacked into its place.
func (r *run) commit() error {
	for _, i := range r.items {
		if i.staged != nil {
			if err := i.staged.Commit(); err != nil {
				return r.discard(err)
			}
			i.staged = nil
		}
	}
	return nil
}

// discard leaves nothing of what was unpacked.
func (r *run) discard(err error) error {
	for _, i := range r.items {
		if i.staged != nil {
			err = errors.Join(err, i.staged.Discard())
		}
	}
	return err
}

// each works on all items at once, and collects what went wrong in their order.
func (r *run) each(work func(*item) error) error {
	errs := make([]error, len(r.items))
	var wait sync.WaitGroup
	for n, i := range r.items {
		wait.Go(func() { errs[n] = work(i) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// now is the time of resolved_at.
func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

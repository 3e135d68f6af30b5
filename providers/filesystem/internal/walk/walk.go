// Package walk goes through a tree of files with several workers and still gives
// its results in one order, the same every time:
//
//	nodes in their order:  ■ given  □ done, waiting  ▶ with a worker  · not begun
//
//	  ■ ■ ■ ▶ □ □ ▶ · · · · ·
//	        │     │ └ a worker takes the first one that has not begun
//	        │     └ what is found in a directory is put in right behind it
//	        └ once this is done, it and what waits behind it are given
//
// Taking always the first keeps few directories open, since that is a walk in
// depth, and little waiting. Where results are large, workers wait for them to
// be given instead of piling up more.
//
// A walk does not enter what is ignored or denied, nor the insides of a
// repository in .git, and never follows a link. What it cannot read it counts.
package walk

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/agentco/agent/providers/filesystem/internal/ignore"
	"github.com/agentco/agent/sdk/jail"
)

// Options say what a walk is for. T is what comes of some files.
type Options[T any] struct {
	// Tree reads rules of what to ignore; nil ignores nothing.
	Tree *ignore.Tree
	// Enter reports whether to look into a directory; nil is always.
	Enter func(rel string) bool
	// Keep reports whether a file is of interest; nil is always.
	Keep func(rel, name string) bool
	// Visit makes something of files in one directory, and says how many bytes
	// that takes. It is called by several goroutines.
	Visit func(Batch) (result T, size int)
	// Give is given the results, one at a time and in order: of each directory
	// first its files by name, then the directories in it, by name.
	Give func(T)
}

// Batch is some of the files of one directory: all there are, or a part of many.
// Links and special files are among them.
type Batch struct {
	Dir   Dir
	Rel   string // of the directory, from where the walk began: "" is itself
	Files []jail.Entry
	// Stopped is true once nobody wants the result.
	Stopped *atomic.Bool
}

// Count is what a walk met.
type Count struct {
	Files        int // visited
	IgnoredFiles int // of those that are of interest
	IgnoredDirs  int
	Denied       int // names that the deny list hides
	Unread       int // directories that could not be read
}

func (c *Count) add(other Count) {
	c.Files += other.Files
	c.IgnoredFiles += other.IgnoredFiles
	c.IgnoredDirs += other.IgnoredDirs
	c.Denied += other.Denied
	c.Unread += other.Unread
}

// Join is the path of name in the directory rel.
func Join(rel, name string) string {
	if rel == "" {
		return name
	}
	return rel + "/" + name
}

const (
	// batch is how many files are visited at once: few enough for both cores to
	// have work in one large directory.
	batch = 16
	// mostWaiting is how many bytes of results may wait for their turn.
	mostWaiting = 4 << 20
	// nodeSize is what a node is taken to need besides its result.
	nodeSize = 1 << 10
	// mostWorkers is where more of them only wait for the disk.
	mostWorkers = 8
)

// held is a directory that several nodes need.
type held struct {
	Dir
	users atomic.Int32
}

func (h *held) release() {
	if h.users.Add(-1) == 0 {
		_ = h.Close() // it was only read
	}
}

// node is a directory to be read, or files in one to be visited.
type node[T any] struct {
	next          *node[T]
	in            *held  // the directory in which name, or files, are
	name          string // of the directory to be read, "" for files
	rel           string // of the directory
	rules         *ignore.Rules
	files         []jail.Entry
	started, done bool
	visited       bool
	result        T
	size          int
}

// walker is a walk under way.
type walker[T any] struct {
	Options[T]
	path    string // where it began
	stopped atomic.Bool

	mu      sync.Mutex
	changed sync.Cond
	first   *node[T] // of those that are not given
	running int
	waiting int // bytes of results
	giving  bool
	count   Count
	panic   any
}

// Run walks the tree below the directory at path, which is open as start and is
// closed in the end. It returns when nothing of it runs any more; once ctx has
// ended that is after what a worker does with one block of one file.
func Run[T any](ctx context.Context, start Dir, path string, o Options[T]) (Count, error) {
	w := &walker[T]{Options: o, path: path}
	w.changed.L = &w.mu
	defer context.AfterFunc(ctx, w.stop)()
	top := &held{Dir: start}
	top.users.Store(1)
	w.first = &node[T]{in: top, rules: o.Tree.Above(path)}
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), mostWorkers) {
		workers.Go(w.work)
	}
	workers.Wait()
	for n := w.first; n != nil; n = n.next { // what a cancellation left
		if !n.started {
			n.in.release()
		}
	}
	if w.panic != nil {
		panic(w.panic)
	}
	return w.count, ctx.Err()
}

func (w *walker[T]) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped.Store(true)
	w.changed.Broadcast()
}

// work takes nodes until there are none. A panic stops the walk and goes on in
// whoever runs it.
func (w *walker[T]) work() {
	defer func() {
		if p := recover(); p != nil {
			w.mu.Lock()
			w.panic = p
			w.mu.Unlock()
			w.stop()
		}
	}()
	for n := w.take(); n != nil; n = w.take() {
		var count Count
		below := w.do(n, &count)
		w.finish(n, below, count)
	}
}

// take waits for a node that can be worked on.
func (w *walker[T]) take() *node[T] {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.stopped.Load() {
		n := w.first
		for n != nil && n.started {
			n = n.next
		}
		switch {
		case n != nil && (n == w.first || w.waiting < mostWaiting):
			n.started = true
			w.running++
			return n
		case n == nil && w.running == 0:
			return nil
		}
		w.changed.Wait()
	}
	return nil
}

// finish puts in what was found below n, and gives what has its turn.
func (w *walker[T]) finish(n *node[T], below []*node[T], count Count) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count.add(count)
	w.running--
	w.waiting += n.size + nodeSize
	last := n
	for _, b := range below {
		b.next, last.next = last.next, b
		last = b
	}
	n.done = true
	w.give()
	w.changed.Broadcast()
}

// give holds the lock, save while a result is being taken.
func (w *walker[T]) give() {
	if w.giving {
		return
	}
	w.giving = true
	for w.first != nil && w.first.done && !w.stopped.Load() {
		n := w.first
		w.first = n.next
		w.waiting -= n.size + nodeSize
		if n.visited && w.Give != nil {
			w.mu.Unlock()
			w.Give(n.result)
			w.mu.Lock()
		}
	}
	w.giving = false
}

// do works on n and returns what is below it.
func (w *walker[T]) do(n *node[T], count *Count) []*node[T] {
	if n.files != nil {
		defer n.in.release()
		w.visit(n, n.in, n.files, count)
		return nil
	}
	dir := n.in
	if n.name != "" {
		opened, err := n.in.Dir.Dir(n.name)
		n.in.release()
		if err != nil {
			count.unread(err)
			return nil
		}
		dir = &held{Dir: opened}
		dir.users.Store(1)
	}
	defer dir.release()
	below := w.read(n, dir, count)
	dir.users.Add(int32(len(below)))
	return below
}

func (c *Count) unread(err error) {
	if !errors.Is(err, fs.ErrNotExist) { // else it went away meanwhile
		c.Unread++
	}
}

func (w *walker[T]) visit(n *node[T], dir *held, files []jail.Entry, count *Count) {
	count.Files += len(files)
	n.result, n.size = w.Visit(Batch{Dir: dir.Dir, Rel: n.rel, Files: files, Stopped: &w.stopped})
	n.visited = true
}

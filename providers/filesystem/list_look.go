package main

import (
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/agentco/agent/sdk/jail"
)

// seen is what a listing says of a name.
type seen struct {
	jail.Info
	link string // what it says, if it is one
	err  error  // why there is no Info
}

// share is how many names are worth another worker.
const share = 64

// look looks at the names in a directory that still have room in the listing:
// that is most of what one takes, so all processors do it. What is found is good
// until the next look.
func (l *lister) look(dir *opened, entries []jail.Entry) []seen {
	n := min(len(entries), max(l.limit-len(l.out.Entries), 0))
	l.found = slices.Grow(l.found[:0], n)[:n]
	found := l.found
	workers := max(min(runtime.GOMAXPROCS(0), len(found)/share), 1)
	var work sync.WaitGroup
	for n := range workers {
		part := func() {
			for i := len(found) * n / workers; i < len(found)*(n+1)/workers && l.ctx.Err() == nil; i++ {
				found[i] = seeing(dir, entries[i].Name)
			}
		}
		if n == workers-1 {
			part()
		} else {
			work.Go(part)
		}
	}
	work.Wait()
	return found
}

func seeing(dir *opened, name string) (s seen) {
	if s.Info, s.err = dir.Lstat(name); s.err == nil && s.Mode&fs.ModeSymlink != 0 {
		s.link, _ = dir.Readlink(name) // it may have become something else
	}
	return s
}

// latest writes a value out, and is quick where it is the one before: in a
// directory most things are alike.
type latest[T comparable] struct {
	write func(T) string
	value T
	text  string // empty: there was none
}

func (l *latest[T]) of(value T) string {
	if l.text == "" || value != l.value {
		l.value, l.text = value, l.write(value)
	}
	return l.text
}

// modified is a time, in seconds since 1970, as results have it.
func modified(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }

package main

import (
	"fmt"
	"os"
	"sync"
)

// outputs is the directory that holds the whole output of commands that printed more
// than a result carries. Only its owner can read it, it is made when it is first needed,
// and it goes when the provider does.
type outputs struct {
	mu  sync.Mutex
	dir string
}

// create returns a new file.
func (o *outputs) create() (*os.File, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "provider-bash-")
		if err != nil {
			return nil, fmt.Errorf("make a directory for the output of commands: %w", err)
		}
		o.dir = dir
	}
	return os.CreateTemp(o.dir, "output-*.txt")
}

func (o *outputs) remove() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dir == "" {
		return nil
	}
	return os.RemoveAll(o.dir)
}

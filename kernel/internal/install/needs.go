package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/agentco/agent/kernel/internal/lock"
)

// Needs is what must stay in the cache since a project has it in its lock file.
type Needs struct {
	keys map[Key]bool
	// Gone are the known projects that do not exist any more.
	Gone []string
}

// NeedsOf reads the lock files of the projects in roots. One that cannot be read is an error: nobody knows what it needs.
func NeedsOf(roots []string) (*Needs, error) {
	n := &Needs{keys: map[Key]bool{}}
	for _, root := range roots {
		if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
			n.Gone = append(n.Gone, root)
			continue
		}
		path := lock.Path(root)
		file, err := lock.Read(path, path)
		if err != nil {
			return nil, fmt.Errorf("cannot tell what the project in %s needs: %w", root, err)
		}
		for _, p := range file.Providers {
			for platform := range p.Checksums {
				key, _ := KeyOf(p, platform)
				n.keys[key] = true
			}
		}
	}
	return n, nil
}

// Has reports whether a project needs a provider.
func (n *Needs) Has(k Key) bool { return n.keys[k] }

package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/agentco/agent/kernel/internal/lock"
)

// Needs is what must stay in the cache, and for whom.
type Needs struct {
	projects map[Key]string
	versions map[string]string
	// Gone are the known projects that do not exist any more.
	Gone []string
}

// NeedsOf reads the lock files of the projects in roots. One that cannot be read is an error: nobody knows what it needs.
func NeedsOf(roots []string) (*Needs, error) {
	n := &Needs{projects: map[Key]string{}, versions: map[string]string{}}
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
				n.projects[key] = root
			}
		}
	}
	return n, nil
}

// Keep makes every provider of a version needed, whatever its source: a session says which version it ran, and not where
// that was from.
func (n *Needs) Keep(version, whom string) { n.versions[version] = whom }

// By says who needs a provider; empty when nobody does.
func (n *Needs) By(k Key) string {
	if root, ok := n.projects[k]; ok {
		return root
	}
	return n.versions[k.Version]
}

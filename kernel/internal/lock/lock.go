// Package lock reads and writes .agent/agent.lock.hcl, the record of what a project's providers were resolved to. It
// belongs into version control, and everything that is installed or started is held to it.
//
//	agent.lock.hcl ── Read ──► File ── Provider ──► version and checksums
//	                            │
//	                            └── Write ──► temporary file, fsync, rename
//
// The checksums are of two kinds. Those of archives come from the release and cover every platform of it; what is
// downloaded is held to them. Those of programs, the files inside, are added on each platform that installs; what is
// started is held to them. So nothing in the cache has to be believed.
package lock

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/registry"
)

// Version is the lock_file_version that this package reads and writes.
const Version = 1

// Path is where the lock file of the project in root is.
func Path(root string) string { return filepath.Join(root, ".agent", "agent.lock.hcl") }

// File is a lock file. The zero value locks nothing.
type File struct {
	// Providers are sorted by name.
	Providers []Provider
}

// Provider is what one provider of the project was resolved to.
type Provider struct {
	// Name as in required_providers.
	Name    string
	Source  config.Source
	Version string
	// ResolvedAt is when the version was chosen, in whole seconds of UTC.
	ResolvedAt time.Time
	// SignedBy names the public key that the checksums were signed with; empty when agent.hcl asked for none.
	SignedBy string
	// Checksums are those of the archives of the release, by platform.
	Checksums map[registry.Platform]Checksum
	// Programs are those of the programs inside, for the platforms where somebody has unpacked one.
	Programs map[registry.Platform]Checksum

	line int // where it stands in the file; 0 for one that was not read
}

// Line is where the provider stands in the file it was read from; 0 for a new one.
func (p Provider) Line() int { return p.line }

// Platforms are those whose archives are locked, sorted.
func (p Provider) Platforms() []registry.Platform { return sorted(p.Checksums) }

func sorted(sums map[registry.Platform]Checksum) []registry.Platform {
	return slices.SortedFunc(maps.Keys(sums), func(a, b registry.Platform) int { return cmp.Compare(a.String(), b.String()) })
}

// Equal reports whether two providers say the same, wherever they stand.
func (p Provider) Equal(q Provider) bool {
	return p.Name == q.Name && p.Source == q.Source && p.Version == q.Version && p.ResolvedAt.Equal(q.ResolvedAt) && p.SignedBy == q.SignedBy &&
		maps.Equal(p.Checksums, q.Checksums) && maps.Equal(p.Programs, q.Programs)
}

// Clone is a copy that shares nothing with p.
func (p Provider) Clone() Provider {
	p.Checksums, p.Programs = maps.Clone(p.Checksums), maps.Clone(p.Programs)
	return p
}

// Provider looks one up by its name.
func (f *File) Provider(name string) (Provider, bool) {
	if at, found := f.find(name); found {
		return f.Providers[at], true
	}
	return Provider{}, false
}

// Set puts a provider in, in place of one of its name if there is one.
func (f *File) Set(p Provider) {
	at, found := f.find(p.Name)
	if found {
		f.Providers[at] = p
		return
	}
	f.Providers = slices.Insert(f.Providers, at, p)
}

// Clone is a copy that shares nothing with f.
func (f *File) Clone() *File {
	c := &File{Providers: make([]Provider, len(f.Providers))}
	for i, p := range f.Providers {
		c.Providers[i] = p.Clone()
	}
	return c
}

// Equal reports whether two files lock the same.
func (f *File) Equal(g *File) bool { return slices.EqualFunc(f.Providers, g.Providers, Provider.Equal) }

func (f *File) find(name string) (at int, found bool) {
	return slices.BinarySearchFunc(f.Providers, name, func(p Provider, name string) int { return cmp.Compare(p.Name, name) })
}

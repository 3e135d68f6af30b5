package install

import (
	"path/filepath"
	"strings"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/lock"
	"github.com/agentco/agent/kernel/internal/registry"
)

// Key is what a provider in the cache is found by.
type Key struct {
	Source   config.Source
	Version  string
	Platform registry.Platform
	// Checksum is that of the archive.
	Checksum lock.Checksum
}

// KeyOf is the key of a locked provider on a platform; false when the lock has no checksum for it.
func KeyOf(p lock.Provider, on registry.Platform) (Key, bool) {
	sum, ok := p.Checksums[on]
	return Key{Source: p.Source, Version: p.Version, Platform: on, Checksum: sum}, ok
}

// Program is the file name of the program: the last element of the source.
func (k Key) Program() string {
	name := k.Source.Name()
	if k.Platform.OS == "windows" {
		name += ".exe"
	}
	return name
}

// String is the key for a person: SOURCE VERSION PLATFORM.
func (k Key) String() string {
	return k.Source.String() + " " + k.Version + " " + k.Platform.String()
}

// folder is where the provider is below the cache. No element of a source holds a tilde, so none can be mistaken for
// two, or for a host with a port.
func (k Key) folder() string {
	repo := k.Source.Repo
	if k.Source.Part != "" {
		repo += "~" + k.Source.Part
	}
	return filepath.Join(strings.ReplaceAll(k.Source.Host, ":", "~"), k.Source.Owner, repo, k.Version, k.Platform.String(), string(k.Checksum))
}

// keyOfFolder is the reverse of folder, for the elements of a path.
func keyOfFolder(elements []string) (Key, bool) {
	if len(elements) != 6 {
		return Key{}, false
	}
	repo, part, split := strings.Cut(elements[2], "~")
	address := strings.ReplaceAll(elements[0], "~", ":") + "/" + elements[1] + "/" + repo
	if split {
		address += "//" + part
	}
	source, err := config.ParseSource(address)
	if err != nil {
		return Key{}, false
	}
	platform, err := registry.ParsePlatform(elements[4])
	if err != nil {
		return Key{}, false
	}
	sum, err := lock.ParseChecksum(lock.Checksum(elements[5]).String())
	if err != nil {
		return Key{}, false
	}
	return Key{Source: source, Version: elements[3], Platform: platform, Checksum: sum}, true
}

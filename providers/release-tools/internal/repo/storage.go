package repo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing/cache"
	format "github.com/go-git/go-git/v5/plumbing/format/config"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// storage is go-git's, without the extensions that change nothing for what is read and written here. go-git refuses a
// repository for them, although a linked worktree is enough to set one.
type storage struct{ *filesystem.Storage }

var harmless = []string{"worktreeconfig", "partialclone", "preciousobjects", "relativeworktrees", "noop", "noop-v1"}

// Config returns the repository's own configuration without the harmless extensions.
func (s storage) Config() (*config.Config, error) {
	c, err := s.Storage.Config()
	if err != nil || !c.Raw.HasSection("extensions") {
		return c, err
	}
	section := c.Raw.Section("extensions")
	section.Options = slices.DeleteFunc(section.Options, func(o *format.Option) bool {
		return slices.Contains(harmless, strings.ToLower(o.Key))
	})
	return c, nil
}

func open(loc location) (*git.Repository, error) {
	dot := dotgit.NewRepositoryFilesystem(osfs.New(loc.gitDir), osfs.New(loc.common))
	s := storage{filesystem.NewStorage(dot, cache.NewObjectLRUDefault())}
	c, err := s.Config()
	if err != nil {
		return nil, refusal.New("unsupported-repository", "cannot read the configuration of %s: %w", loc.root, err)
	}
	if c.Raw.HasSection("extensions") {
		for _, o := range c.Raw.Section("extensions").Options {
			return nil, refusal.New("unsupported-repository",
				"cannot release in %s: it uses the git extension %s, which is not supported here; tag it with git itself",
				loc.root, extension(o))
		}
	}
	r, err := git.Open(s, osfs.New(loc.root))
	if err != nil {
		return nil, refusal.New("unsupported-repository", "cannot open the repository at %s: %w", loc.root, err)
	}
	return r, nil
}

// extension names an extension as git's documentation spells it.
func extension(o *format.Option) string {
	key := o.Key
	for _, known := range []string{"objectFormat", "refStorage", "compatObjectFormat"} {
		if strings.EqualFold(known, key) {
			key = known
		}
	}
	return fmt.Sprintf("%s=%s", key, o.Value)
}

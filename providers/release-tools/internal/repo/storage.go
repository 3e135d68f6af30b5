package repo

import (
	"maps"
	"slices"
	"strings"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// storage is go-git's, which is not told what the configuration says. go-git refuses a whole repository for what git takes:
// branch.NAME.rebase = merges, branch.NAME.merge as gh pr checkout sets it, a refspec that excludes, a byte order mark, and
// extensions that change nothing for what is read and written here.
type storage struct{ *filesystem.Storage }

// Config returns an empty configuration: what matters of it is in Settings.
func (storage) Config() (*config.Config, error) { return config.NewConfig(), nil }

func open(loc location) (*git.Repository, error) {
	dot := dotgit.NewRepositoryFilesystem(osfs.New(loc.gitDir), osfs.New(loc.common))
	r, err := git.Open(storage{filesystem.NewStorage(dot, cache.NewObjectLRUDefault())}, osfs.New(loc.root))
	if err != nil {
		return nil, refusal.New("unsupported-repository", "cannot open the repository at %s: %w", loc.root, err)
	}
	return r, nil
}

// extensions are those of git, in lower case, with the values that change nothing for what is read and written here; "" is
// any.
var extensions = map[string]string{
	"worktreeconfig": "", "partialclone": "", "preciousobjects": "", "relativeworktrees": "", "noop": "", "noop-v1": "",
	"objectformat": "sha1", "refstorage": "files",
}

// supported refuses a repository with an extension that go-git would misread.
func (s Settings) supported(root string) error {
	for _, key := range slices.Sorted(maps.Keys(s)) {
		name, is := strings.CutPrefix(key, "extensions.")
		if harmless, known := extensions[name]; !is || known && (harmless == "" || strings.EqualFold(harmless, s[key])) {
			continue
		}
		return refusal.New("unsupported-repository",
			"cannot release in %s: it uses the git extension %s=%s, which is not supported here; tag it with git itself", root, spelled(name), s[key])
	}
	return nil
}

// spelled names an extension as git's documentation does.
func spelled(extension string) string {
	for _, known := range []string{"objectFormat", "refStorage", "compatObjectFormat"} {
		if strings.EqualFold(known, extension) {
			return known
		}
	}
	return extension
}

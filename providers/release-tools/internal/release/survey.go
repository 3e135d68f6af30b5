package release

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"

	"github.com/agentco/agent/providers/release-tools/internal/changelog"
	"github.com/agentco/agent/providers/release-tools/internal/conventional"
	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/agentco/agent/providers/release-tools/internal/repo"
	"github.com/agentco/agent/providers/release-tools/internal/textfile"
)

// survey is what a project says about its releases: its tags and its changelog.
type survey struct {
	settings Settings
	repo     *repo.Repo
	tags     []string
	file     *textfile.File
	doc      *changelog.Document
	known    []past
}

// look reads tags and changelog. When the changelog cannot be read, that is the error, and the rest is there all the same.
func look(ctx context.Context, r *repo.Repo, s Settings) (survey, error) {
	found := survey{settings: s, repo: r}
	var err error
	if found.tags, err = r.Tags(ctx); err != nil {
		return found, err
	}
	if found.file, err = textfile.Open(r.Root, s.Changelog); err == nil {
		found.doc, err = changelog.Parse(found.file.Name, found.file.Content)
	} else if isMissing(err) {
		err = whereIs(ctx, r, s.Changelog, err)
	}
	found.known = releases(s.TagPrefix, found.tags, found.doc)
	return found, err
}

// lookLeniently does without a changelog that is not there.
func lookLeniently(ctx context.Context, r *repo.Repo, s Settings) (survey, error) {
	found, err := look(ctx, r, s)
	if isMissing(err) {
		return found, nil
	}
	return found, err
}

func isMissing(err error) bool {
	missing, ok := errors.AsType[*refusal.Error](err)
	return ok && missing.Kind == "no-changelog"
}

// whereIs tells a file that is missing from one that is only not checked out, of which it would be wrong to make another.
func whereIs(ctx context.Context, r *repo.Repo, name string, missing error) error {
	if entry, err := r.IndexEntry(ctx, path.Clean(name)); err != nil || entry == "" {
		return errors.Join(missing, err)
	}
	return refusal.Missing("changelog-not-checked-out", "%s is tracked in %s and not in the working tree: git checkout -- %s brings it back, "+
		"or in a sparse checkout git sparse-checkout add %s", name, r.Root, name, path.Dir(path.Clean(name)))
}

// folder is where the commits of a module lie: a tag prefix sdk/v means the folder sdk, if there is one. "" is everything.
func (s survey) folder() string {
	dir := path.Dir(s.settings.TagPrefix + "0")
	if dir == "." {
		return ""
	}
	if info, err := os.Stat(filepath.Join(s.repo.Root, filepath.FromSlash(dir))); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// since returns the commits after a release, the newest first, and what a person should know about them. A clone that is
// too shallow to tell is refused.
func (s survey) since(ctx context.Context, last past, found bool) ([]conventional.Commit, []string, error) {
	shallow := s.repo.Shallow()
	switch {
	case found && !last.tagged && shallow, !found && shallow:
		return nil, nil, tooShallow("the tag of the last release is not in it")
	case found && !last.tagged:
		return nil, []string{"release " + last.version.String() + " has no tag " + last.tag + ", so no commits were looked at"}, nil
	case !found:
		commits, err := s.repo.History(ctx, "", s.folder())
		return commits, nil, err
	}
	reached, err := s.repo.Reaches(ctx, last.tag)
	switch {
	case errors.Is(err, repo.ErrNoCommit) && shallow:
		return nil, nil, tooShallow("the commit of tag " + last.tag + " is not in it")
	case errors.Is(err, repo.ErrNoCommit):
		return nil, []string{"tag " + last.tag + " leads to no commit, so no commits were looked at"}, nil
	case err != nil:
		return nil, nil, err
	}
	var warnings []string
	if !reached && shallow {
		return nil, nil, tooShallow("its history ends before tag " + last.tag)
	}
	if !reached {
		warnings = append(warnings, "tag "+last.tag+" is not in the history of HEAD; the commits are those that it does not have")
	}
	commits, err := s.repo.History(ctx, last.tag, s.folder())
	return commits, warnings, err
}

func tooShallow(why string) error {
	return refusal.New("shallow-repository", "this clone is shallow and %s: run git fetch --unshallow --tags", why)
}

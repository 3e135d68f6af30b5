package release

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/changelog"
	"github.com/agentco/agent/providers/release-tools/internal/forge"
	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/agentco/agent/providers/release-tools/internal/semver"
)

// Prepare checks a release and works out all of it. It writes nothing and asks for no key.
func Prepare(ctx context.Context, s Settings, req Request) (*Plan, error) {
	p := &Plan{settings: s, Commit: s.Commit}
	var err error
	if req.Version != Auto {
		if p.Version, err = parseVersion(req.Version); err != nil {
			return nil, err
		}
	}
	if p.Date, err = parseDate(req.Date, req.Now); err != nil {
		return nil, err
	}
	if strings.ContainsRune(req.Message, 0) {
		return nil, refusal.Argument("message", "invalid-message", "it holds a NUL byte")
	}
	if p.repo, err = s.open(ctx, req.Dir, req.Now); err != nil {
		return nil, err
	}
	p.Branch, p.Head = p.repo.Head.Branch, p.repo.Head.Commit.String()
	for _, check := range []func(context.Context) error{
		p.checkPlace, func(ctx context.Context) error { return p.promote(ctx, req.Version == Auto) }, p.checkTree, p.checkIdentity,
	} {
		if err := check(ctx); err != nil {
			return nil, err
		}
	}
	if strings.TrimSpace(req.Message) != "" {
		p.message = fill(req.Message)
	}
	return p, nil
}

// mostVersion is the longest version that is taken, in bytes. The tag is a file name to git, with a prefix and ".lock".
const mostVersion = 128

func parseVersion(s string) (semver.Version, error) {
	if len(s) > mostVersion {
		return semver.Version{}, refusal.Argument("version", "invalid-version", "it is %d bytes long; at most %d are taken", len(s), mostVersion)
	}
	v, err := semver.Parse(strings.TrimPrefix(s, "v"))
	if err != nil {
		return v, refusal.Argument("version", "invalid-version", "%q is no version: %w; write MAJOR.MINOR.PATCH, as in 1.4.0, or auto", s, err)
	}
	return v, nil
}

func parseDate(s string, now time.Time) (string, error) {
	if s == "" {
		return now.UTC().Format(time.DateOnly), nil
	}
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return "", refusal.Argument("date", "invalid-date", "%q is no day of the calendar: write YYYY-MM-DD", s)
	}
	return s, nil
}

// checkPlace refuses a branch that may not release and an operation that is not ended.
func (p *Plan) checkPlace(ctx context.Context) error {
	if op := p.repo.Underway(); op != "" {
		return refusal.New("operation-in-progress", "a %s is under way in %s: end or abort it before releasing", op, p.repo.Root)
	}
	if err := checkInterrupted(ctx, p.repo); err != nil {
		return err
	}
	allowed := p.settings.Branches
	if p.Branch == "" {
		if slices.Contains(allowed, Detached) {
			return nil
		}
		return refusal.New("detached-head", "HEAD is detached at %.7s: switch to a branch, or list %q among branches to release from there",
			p.Head, Detached)
	}
	matches := func(pattern string) bool { ok, _ := path.Match(pattern, p.Branch); return ok }
	if len(allowed) > 0 && !slices.ContainsFunc(allowed, matches) {
		return refusal.New("branch-not-allowed", "branch %s may not release: branches allows %s", p.Branch, strings.Join(allowed, ", "))
	}
	return nil
}

// promote checks the version against what was released before and works out the new changelog.
func (p *Plan) promote(ctx context.Context, auto bool) error {
	found, err := look(ctx, p.repo, p.settings)
	if err != nil {
		return err
	}
	p.file = found.file
	if auto {
		next, err := found.next(ctx, "")
		if err != nil {
			return err
		}
		p.Version, p.Warnings = next.Version, next.Warnings
		p.Why = next.Reasons[0].Text
	}
	p.Tag = p.settings.TagPrefix + p.Version.String()
	if err := p.repo.TagFree(ctx, p.Tag, found.tags); err != nil {
		return err
	}
	if err := p.checkNewer(found.known); err != nil {
		return err
	}
	known := found.known
	done, err := found.doc.Promote(changelog.Release{
		Version: p.Version, Tag: p.Tag, Date: p.Date, Previous: previous(known, p.Version), Links: p.links(ctx),
	})
	if err != nil {
		return err
	}
	p.After, p.Warnings = done.After, append(p.Warnings, done.Warnings...)
	p.write(done.Notes)
	return nil
}

// write fills in the messages of tag and commit.
func (p *Plan) write(notes string) {
	values := []string{"{version}", p.Version.String(), "{tag}", p.Tag, "{date}", p.Date, "{notes}", notes}
	p.message = fill(p.settings.TagMessage, values...)
	p.subject = fill(p.settings.CommitMessage, values...)
}

func (p *Plan) links(ctx context.Context) changelog.Links {
	l := changelog.Links{Forge: func(url string) (string, string) {
		pages, _ := forge.Page(url)
		return pages.Compare, pages.Tag
	}}
	origin := p.repo.Remote(ctx)
	pages, _ := forge.Remote(origin)
	l.Compare, l.Tag = pages.Compare, pages.Tag
	l.Remote = origin != ""
	if p.settings.CompareURL != "" {
		l.Compare, l.Fixed = p.settings.CompareURL, true
	}
	return l
}

// checkTree refuses tracked changes. The changelog itself may be edited: finishing the notes is the last thing one does
// before a release, and it is what the release is about.
func (p *Plan) checkTree(ctx context.Context) error {
	changes, err := p.repo.Changes(ctx)
	if err != nil {
		return err
	}
	var dirty []string
	for _, c := range changes {
		if c.Path == p.file.Path && c.Unmerged {
			return refusal.New("dirty-worktree", "%s has merge conflicts: resolve them before releasing", p.file.Name)
		}
		if c.Path != p.file.Path {
			dirty = append(dirty, c.Code+" "+c.Path)
		}
	}
	if len(dirty) > 0 && !p.settings.AllowDirty {
		return refusal.New("dirty-worktree", "the working tree has changes that would not be in the release:\n  %s\ncommit or stash them, or set allow_dirty",
			strings.Join(shorten(dirty, 20), "\n  "))
	}
	if !p.Commit {
		return nil
	}
	p.entry, err = p.repo.IndexEntry(ctx, p.file.Path)
	if err == nil && p.entry == "" {
		return refusal.New("untracked-changelog", "%s is not tracked by this repository: git add and commit it once before releasing with commit = true", p.file.Name)
	}
	return err
}

func (p *Plan) checkIdentity(ctx context.Context) (err error) {
	p.tagger, err = p.repo.Tagger(ctx)
	return err
}

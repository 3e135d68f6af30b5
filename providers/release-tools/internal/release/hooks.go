package release

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentco/agent/providers/release-tools/internal/changelog"
	"github.com/agentco/agent/providers/release-tools/internal/repo"
)

// heedHooks looks at what the hooks of a commit made of the changelog; err is how the commit ended. What they made and
// committed becomes the release's own, so that it can be taken back. What they made beside the commit, or before they
// failed it, is set aside as an object, so that the step leaves nothing behind and nobody's bytes are lost.
func (p *Plan) heedHooks(ctx context.Context, rec *record, made repo.Commit, err error) error {
	ctx = context.WithoutCancel(ctx) // the commit is there or not; only what is true of it is left to find out
	changed, unread := p.file.Reread()
	if unread != nil {
		if err == nil {
			err = p.repo.TakeBack(ctx, made)
		}
		return errors.Join(err, unread)
	}
	if err != nil {
		return p.setAside(ctx, changed, err)
	}
	same, err := p.repo.Holds(ctx, made, p.file.Path, p.file.Content)
	if err == nil && !same {
		err = fmt.Errorf("a hook rewrote %s and the commit does not hold what the file does; let the hook git add what it writes", p.file.Name)
	}
	if err == nil && changed && !p.released() {
		err = fmt.Errorf("what was committed of %s has no entries for %s any more", p.file.Name, p.Version)
	}
	if err == nil && changed {
		err = p.adopt(ctx, rec, made)
	}
	if err != nil {
		return p.setAside(ctx, changed, errors.Join(err, p.repo.TakeBack(ctx, made)))
	}
	return nil
}

// released reports whether the changelog has the release, as it has after any hook that only tidies.
func (p *Plan) released() bool {
	doc, err := changelog.Parse(p.file.Name, p.file.Content)
	if err != nil {
		return false
	}
	_, err = doc.Find(p.Version.String())
	return err == nil
}

// adopt makes what the hooks committed the changelog of the release.
func (p *Plan) adopt(ctx context.Context, rec *record, made repo.Commit) error {
	p.After, rec.After = p.file.Content, p.file.Content
	p.Warnings = append(p.Warnings, fmt.Sprintf("a hook of git commit rewrote %s: the release holds what it made of it", p.file.Name))
	return p.repo.StageCommitted(ctx, made, p.file.Path)
}

// setAside keeps what a hook wrote where git finds it, as the step before this one is about to restore the file.
func (p *Plan) setAside(ctx context.Context, changed bool, err error) error {
	if !changed {
		return err
	}
	blob, lost := p.repo.Keep(ctx, p.file.Content)
	if lost != nil {
		return errors.Join(err, lost)
	}
	return fmt.Errorf("%w; what a hook made of %s meanwhile is kept: git cat-file -p %.12s", err, p.file.Name, blob)
}

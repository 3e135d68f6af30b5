package release

import (
	"bytes"
	"context"
	"strings"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/agentco/agent/providers/release-tools/internal/repo"
	"github.com/agentco/agent/providers/release-tools/internal/textfile"
	"github.com/go-git/go-git/v5/plumbing"
)

// standing is how much of a recorded release is there.
type standing struct {
	rec    *record
	moved  string        // why this is no longer the repository the release left, "" if it is
	tag    plumbing.Hash // its object, zero if there is none
	others bool          // the name is taken by a tag of somebody else
	commit plumbing.Hash // zero if there is none
	staged bool          // the index has the changelog of the release although it has no commit, or still
	file   *textfile.File
	edited bool // the changelog is neither as before nor as after
}

// inspect compares a record with the repository.
func inspect(ctx context.Context, r *repo.Repo, rec *record) (standing, error) {
	s := standing{rec: rec}
	head := r.Head.Commit
	switch {
	case r.Head.RefName() != rec.Ref:
		s.moved = "HEAD is on " + strings.TrimPrefix(r.Head.RefName(), "refs/heads/") + " and the release was made on " + strings.TrimPrefix(rec.Ref, "refs/heads/") + ": switch there first"
	case head.String() == rec.Head:
	case s.isCommit(ctx, r, head):
		s.commit = head
	default:
		s.moved = "HEAD is at " + head.String()[:7] + ", which the release did not make; go on to a newer release, or take that commit back first"
	}
	if err := s.findTag(ctx, r); err != nil || s.moved != "" {
		return s, err
	}
	return s, s.findChangelog(ctx, r)
}

// isCommit reports whether a commit is the one that the release made.
func (s *standing) isCommit(ctx context.Context, r *repo.Repo, hash plumbing.Hash) bool {
	if !s.rec.Commit || s.rec.MadeCommit != "" {
		return s.rec.Commit && hash.String() == s.rec.MadeCommit
	}
	c, err := r.ReadCommit(ctx, hash)
	return err == nil && len(c.ParentHashes) == 1 && c.ParentHashes[0].String() == s.rec.Head && s.rec.by(c.Committer)
}

func (s *standing) findTag(ctx context.Context, r *repo.Repo) error {
	hash, tag, err := r.ReadTag(ctx, s.rec.Tag)
	if err != nil || hash.IsZero() {
		return err
	}
	ours := hash.String() == s.rec.MadeTag
	if s.rec.MadeTag == "" && tag != nil {
		ours = s.rec.by(tag.Tagger) && strings.TrimSpace(tag.Message) == strings.TrimSpace(s.rec.Message)
	}
	if s.others = !ours; ours {
		s.tag = hash
	}
	return nil
}

func (s *standing) findChangelog(ctx context.Context, r *repo.Repo) error {
	var err error
	if s.file, err = textfile.Open(r.Root, s.rec.Path); err != nil {
		s.edited = true
		return nil
	}
	s.edited = !bytes.Equal(s.file.Content, s.rec.Before) && !bytes.Equal(s.file.Content, s.rec.After)
	if !s.rec.Commit {
		return nil
	}
	entry, err := r.IndexEntry(ctx, s.rec.Path)
	if err != nil || entry == s.rec.Entry {
		return err
	}
	blob, err := r.Stored(ctx, s.rec.Path, s.rec.After)
	s.staged = strings.HasSuffix(entry, ","+blob)
	s.edited = s.edited || !s.staged
	return err
}

// rewritten reports whether the changelog is the one of the release.
func (s *standing) rewritten() bool {
	return s.file != nil && bytes.Equal(s.file.Content, s.rec.After)
}

// parts names what there is of the release, and what is missing.
func (s *standing) parts() (there, missing []string) {
	say := func(is bool, what string) {
		if is {
			there = append(there, what)
		} else {
			missing = append(missing, what)
		}
	}
	say(s.rewritten(), "the rewritten "+s.rec.Path)
	if s.rec.Commit {
		say(!s.commit.IsZero(), "its commit")
	}
	say(!s.tag.IsZero(), "tag "+s.rec.Tag)
	if s.staged && s.commit.IsZero() {
		there = append(there, "the staged "+s.rec.Path)
	}
	return there, missing
}

// checkInterrupted refuses a release on top of half of another one, as a killed process leaves it.
func checkInterrupted(ctx context.Context, r *repo.Repo) error {
	names, err := r.Notes()
	if err != nil {
		return err
	}
	for _, name := range names {
		rec, err := readRecord(r, name)
		if err != nil {
			return err
		}
		if rec == nil {
			continue
		}
		s, err := inspect(ctx, r, rec)
		if err != nil {
			return err
		}
		there, missing := s.parts()
		if s.moved == "" && !s.edited && !s.others && len(there) > 0 && len(missing) > 0 {
			unlock, err := r.Lock()
			if err != nil { // whoever makes it is at it
				return err
			}
			unlock()
			return refusal.New("interrupted-release", "the release of %s was interrupted: there is %s, but not %s; take it back with release-undo %s, or finish it by hand",
				rec.Version, strings.Join(there, " and "), strings.Join(missing, " and "), rec.Version)
		}
	}
	return nil
}

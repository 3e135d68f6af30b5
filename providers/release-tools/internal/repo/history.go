package repo

import (
	"context"
	"errors"
	"strings"

	"github.com/agentco/agent/providers/release-tools/internal/conventional"
	"github.com/agentco/agent/providers/release-tools/internal/refusal"
)

// History returns the commits that HEAD has and the tag has not, the newest first; all of HEAD's if tag is "". A folder
// other than "" leaves only the commits that change something in it.
func (r *Repo) History(ctx context.Context, tag, folder string) ([]conventional.Commit, error) {
	args := []string{
		"log", "-z", "--topo-order", "--format=%H %P%n%B", "--encoding=UTF-8",
		"--no-show-signature", "--no-notes", "--no-color", "--no-follow", r.Head.Commit.String(),
	}
	if tag != "" {
		args = append(args, "^refs/tags/"+tag+"^{commit}")
	}
	args = append(args, "--")
	if folder != "" {
		args = append(args, literal(folder))
	}
	out, err := r.run(ctx, call{args: args})
	if err != nil {
		return nil, failed(err, "cannot read the history of %s", r.Root)
	}
	var commits []conventional.Commit
	for entry := range strings.SplitSeq(out, "\x00") {
		head, message, found := strings.Cut(entry, "\n")
		if !found {
			continue
		}
		hashes := strings.Fields(head)
		commits = append(commits, conventional.Commit{Hash: hashes[0], Parents: hashes[1:], Message: strings.ToValidUTF8(message, "\uFFFD")})
	}
	return commits, nil
}

// ErrNoCommit says that a tag leads to no commit that is here: to a tree, or to nothing.
var ErrNoCommit = errors.New("the tag leads to no commit")

// Reaches reports whether the tag's commit is in the history of HEAD, as far as this clone holds that. Without such a
// commit the error is ErrNoCommit.
func (r *Repo) Reaches(ctx context.Context, tag string) (bool, error) {
	_, err := r.run(ctx, call{args: []string{"merge-base", "--is-ancestor", "refs/tags/" + tag + "^{commit}", r.Head.Commit.String()}})
	if e, ok := errors.AsType[*gitError](err); ok {
		if e.code() == 1 {
			return false, nil
		}
		if commit, _ := r.peel(ctx, tag); commit == "" && ctx.Err() == nil {
			return false, ErrNoCommit
		}
		return false, refusal.New("git-failed", "cannot tell whether tag %s is in the history of HEAD: %w", tag, e)
	}
	return err == nil, err
}

package repo

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Tagger returns who makes tags and commits, and when, as git itself would record it: from the environment, else from
// the settings with their includes. An identity that git would guess from the host's name does not count.
func (r *Repo) Tagger(ctx context.Context) (object.Signature, error) {
	for _, who := range []string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		out, err := r.run(ctx, call{args: []string{"-c", "user.useConfigOnly=true", "var", who}})
		if _, failed := errors.AsType[*gitError](err); failed {
			return object.Signature{}, refusal.New("no-identity",
				"git does not know who makes this release; run\n  git config user.name \"Your Name\"\n  git config user.email you@example.com\n(%w)", err)
		}
		if err != nil {
			return object.Signature{}, err
		}
		if who == "GIT_COMMITTER_IDENT" {
			return parseIdentity(strings.TrimSpace(out))
		}
	}
	return object.Signature{}, nil
}

// parseIdentity reads "Name <mail> seconds zone".
func parseIdentity(s string) (object.Signature, error) {
	left, right := strings.LastIndexByte(s, '<'), strings.LastIndexByte(s, '>')
	if left < 0 || right < left {
		return object.Signature{}, refusal.New("no-identity", "git describes the identity as %q, which names no address", s)
	}
	sig := object.Signature{Name: strings.TrimSpace(s[:left]), Email: s[left+1 : right]}
	seconds, zone, _ := strings.Cut(strings.TrimSpace(s[right+1:]), " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return sig, refusal.New("no-identity", "git describes the identity as %q, which holds no time: %w", s, err)
	}
	sig.When = time.Unix(unix, 0).UTC()
	if at, err := time.Parse("-0700", zone); err == nil {
		sig.When = sig.When.In(at.Location())
	}
	return sig, nil
}

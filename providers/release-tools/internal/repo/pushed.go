package repo

import (
	"context"
	"strings"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/go-git/go-git/v5/plumbing"
)

// remoteTime is how long a remote may take to answer.
const remoteTime = 20 * time.Second

// CheckUnpushed refuses a commit that is known here to be on a remote.
func (r *Repo) CheckUnpushed(ctx context.Context, commit plumbing.Hash) error {
	out, err := r.run(ctx, call{args: []string{"for-each-ref", "--format=%(refname:lstrip=2)", "--contains", commit.String(), "refs/remotes"}})
	if err != nil {
		return failed(err, "cannot tell whether commit %.7s was pushed", commit)
	}
	if at := strings.Fields(out); len(at) > 0 {
		return pushed("commit "+commit.String()[:7], at[0])
	}
	return nil
}

// AskRemotes refuses a tag or a commit that a remote says it has, as nothing here tells which tags were pushed. A remote
// that does not answer could have them; one without a URL has nothing. The zero hash is no commit.
func (r *Repo) AskRemotes(ctx context.Context, tag string, commit plumbing.Hash) error {
	out, err := r.run(ctx, call{args: []string{"remote"}})
	if err != nil {
		return failed(err, "cannot read the remotes of %s", r.Root)
	}
	for remote := range strings.Lines(out) {
		remote = strings.TrimSuffix(remote, "\n")
		places, err := r.places(ctx, remote)
		if err != nil {
			return err
		}
		for _, place := range places {
			if err := r.askRemote(ctx, remote, place, tag, commit); err != nil {
				return err
			}
		}
	}
	return nil
}

// places are where a remote is read from, by its name, and where else it is pushed to.
func (r *Repo) places(ctx context.Context, remote string) ([]string, error) {
	if r.Settings.nowhere(remote) {
		return nil, nil
	}
	places := []string{remote}
	out, err := r.run(ctx, call{args: []string{"remote", "get-url", remote}})
	if err != nil {
		return nil, failed(err, "cannot tell where remote %s is", remote)
	}
	read, _, _ := strings.Cut(out, "\n")
	if out, err = r.run(ctx, call{args: []string{"remote", "get-url", "--all", "--push", remote}}); err != nil {
		return nil, failed(err, "cannot tell where remote %s is pushed to", remote)
	}
	for url := range strings.Lines(out) {
		if url = strings.TrimSuffix(url, "\n"); url != read {
			places = append(places, url)
		}
	}
	return places, nil
}

func (r *Repo) askRemote(ctx context.Context, remote, place, tag string, commit plumbing.Hash) error {
	asking, cancel := context.WithTimeout(ctx, remoteTime)
	defer cancel()
	c := call{args: []string{"ls-remote", "--quiet", "--", place, "refs/tags/" + tag, "refs/heads/*"}}
	if r.getenv("GIT_SSH_COMMAND") == "" && r.Settings["core.sshcommand"] == "" {
		c.env = []string{"GIT_SSH_COMMAND=ssh -oBatchMode=yes"} // ssh would ask the terminal for a password
	}
	out, err := r.run(asking, c)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return refusal.New("remote-silent", "cannot tell whether %s was pushed, as remote %s does not answer: %v; try again, or take the release back by hand", tag, remote, err)
	}
	for line := range strings.Lines(out) {
		switch hash, name, _ := strings.Cut(strings.TrimSpace(line), "\t"); {
		case strings.HasPrefix(name, "refs/tags/"):
			return pushed("tag "+tag, remote)
		case hash == commit.String():
			return pushed("commit "+hash[:7], remote)
		}
	}
	return nil
}

func pushed(what, where string) error {
	return refusal.New("pushed", "%s is on %s already, so others may have it: make a newer release instead", what, where)
}

package repo

import (
	"context"
	"errors"
	"os"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
)

// Signing says whether tags and commits are signed. The zero value does what git's settings say.
type Signing string

// The ways to sign.
const (
	SignAsConfigured Signing = ""
	SignOff          Signing = "off"
	SignSSH          Signing = "ssh"
	SignOpenPGP      Signing = "openpgp"
)

func (r *Repo) signsTags(s Signing) bool {
	return s.forced() || s == SignAsConfigured && (r.Settings.Bool("tag.gpgsign") || r.Settings.Bool("tag.forcesignannotated"))
}

func (r *Repo) signsCommits(s Signing) bool {
	return s.forced() || s == SignAsConfigured && r.Settings.Bool("commit.gpgsign")
}

func (s Signing) forced() bool { return s == SignSSH || s == SignOpenPGP }

// format selects the kind of key when the provider's configuration names one.
func (s Signing) format() []string {
	if s.forced() {
		return []string{"-c", "gpg.format=" + string(s)}
	}
	return nil
}

// CheckSigning signs something that is thrown away, if anything is to be signed at all. Nothing reaches the repository:
// the object lands in a temporary folder.
func (r *Repo) CheckSigning(ctx context.Context, s Signing, commits bool) error {
	signs := r.signsTags(s) || commits && r.signsCommits(s)
	if !signs {
		return nil
	}
	head, err := r.git.CommitObject(r.Head.Commit)
	if err != nil {
		return refusal.New("unsupported-repository", "cannot read commit %s: %w", r.Head.Commit, err)
	}
	objects, err := os.MkdirTemp("", "release-tools-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(objects) }()
	_, err = r.run(ctx, call{
		args: append(s.format(), "commit-tree", "-S", "-m", "signing check", head.TreeHash.String()),
		env:  []string{"GIT_OBJECT_DIRECTORY=" + objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + r.commonPath("objects")},
	})
	if failed, ok := errors.AsType[*gitError](err); ok {
		return refusal.New("cannot-sign", "cannot sign the release: %s; set user.signingkey to a key that can be used "+
			"without a prompt, or configure sign = \"off\" (%w)", failed.said, err)
	}
	return err
}

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

// emptyTree is an object that git knows without having it.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// CheckSigning signs something that is thrown away, if anything is to be signed at all. Nothing reaches the repository:
// the object lands in a temporary folder.
func (r *Repo) CheckSigning(ctx context.Context, s Signing, commits bool) error {
	signs := r.signsTags(s) || commits && r.signsCommits(s)
	if !signs {
		return nil
	}
	objects, err := os.MkdirTemp("", "release-tools-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(objects) }()
	_, err = r.run(ctx, call{
		args: append(s.format(), "commit-tree", "-S", "-m", "signing check", emptyTree),
		env:  []string{"GIT_OBJECT_DIRECTORY=" + objects},
	})
	if failed, ok := errors.AsType[*gitError](err); ok {
		return refusal.New("cannot-sign", "cannot sign the release: %s; set user.signingkey to a key that can be used "+
			"without a prompt, give git what it needs for it in env, as SSH_AUTH_SOCK, or configure sign = \"off\" (%w)", failed.said, err)
	}
	return err
}

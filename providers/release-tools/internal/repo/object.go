package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// ReadCommit returns a commit, wherever git has it.
func (r *Repo) ReadCommit(ctx context.Context, hash plumbing.Hash) (*object.Commit, error) {
	raw, err := r.object(ctx, hash)
	if err != nil {
		return nil, err
	}
	c := &object.Commit{}
	return c, c.Decode(raw)
}

// ReadTag returns what a tag's ref points to, and the tag object if it is annotated. The hash is zero when there is no
// such tag.
func (r *Repo) ReadTag(ctx context.Context, name string) (plumbing.Hash, *object.Tag, error) {
	ref, err := r.git.Reference(plumbing.NewTagReferenceName(name), true)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return plumbing.ZeroHash, nil, nil
	}
	if err != nil {
		return plumbing.ZeroHash, nil, refusal.New("unsupported-repository", "cannot read tag %s of %s: %w", name, r.Root, err)
	}
	raw, err := r.object(ctx, ref.Hash())
	if err != nil || raw.Type() != plumbing.TagObject {
		return ref.Hash(), nil, err
	}
	tag := &object.Tag{}
	return ref.Hash(), tag, tag.Decode(raw)
}

// object reads an object by git, which finds it in the folders that a clone shares with others, too.
func (r *Repo) object(ctx context.Context, hash plumbing.Hash) (*plumbing.MemoryObject, error) {
	out, err := r.run(ctx, call{args: []string{"cat-file", "--batch"}, input: hash.String() + "\n"})
	if err != nil {
		return nil, failed(err, "cannot read object %s of %s", hash, r.Root)
	}
	head, body, _ := strings.Cut(out, "\n")
	fields := strings.Fields(head)
	if len(fields) != 3 {
		return nil, refusal.New("unsupported-repository", "cannot read object %s of %s: %w", hash, r.Root, plumbing.ErrObjectNotFound)
	}
	kind, err := plumbing.ParseObjectType(fields[1])
	if err != nil {
		return nil, err
	}
	raw := &plumbing.MemoryObject{}
	raw.SetType(kind)
	_, err = raw.Write([]byte(strings.TrimSuffix(body, "\n")))
	return raw, err
}

// store writes a tag. In a repository that several users share git does, which gives them their rights to what it makes.
func (r *Repo) store(ctx context.Context, tag *object.Tag) (plumbing.Hash, error) {
	raw := r.git.Storer.NewEncodedObject()
	if err := tag.Encode(raw); err != nil {
		return plumbing.ZeroHash, err
	}
	if r.Settings["core.sharedrepository"] == "" {
		return r.git.Storer.SetEncodedObject(raw)
	}
	reader, err := raw.Reader()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	var content bytes.Buffer
	if _, err = io.Copy(&content, reader); err != nil {
		return plumbing.ZeroHash, err
	}
	out, err := r.run(ctx, call{args: []string{"hash-object", "-t", "tag", "-w", "--stdin"}, input: content.String()})
	if hash := plumbing.NewHash(strings.TrimSpace(out)); err != nil || hash == raw.Hash() {
		return hash, err
	}
	return plumbing.ZeroHash, fmt.Errorf("git stored the tag as %s, and not as %s", strings.TrimSpace(out), raw.Hash())
}

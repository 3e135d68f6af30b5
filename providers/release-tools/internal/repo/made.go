package repo

import (
	"context"
	"os"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// IndexEntry is what the index holds for a path: mode and object, as git update-index takes them. "" is nothing, or a
// path with conflicts.
func (r *Repo) IndexEntry(ctx context.Context, path string) (string, error) {
	out, err := r.run(ctx, call{args: []string{"ls-files", "--stage", "-z", "--", literal(path)}})
	if err != nil {
		return "", failed(err, "cannot read the index of %s", r.Root)
	}
	fields := strings.Fields(out)
	if len(fields) < 3 || strings.Count(out, "\x00") != 1 || fields[2] != "0" {
		return "", nil
	}
	return fields[0] + "," + fields[1], nil
}

// SetIndexEntry puts an entry in place and returns the way back, which restores the bytes of the index.
func (r *Repo) SetIndexEntry(ctx context.Context, path, entry string) (back func() error, err error) {
	before, err := os.ReadFile(r.path("index"))
	if err != nil {
		return nil, err
	}
	_, err = r.run(context.WithoutCancel(ctx), call{args: []string{"update-index", "--cacheinfo", entry + "," + path}})
	return func() error { return r.restoreIndex(before) }, err
}

// Stored is the object that git would keep for a file with that content, after its filters.
func (r *Repo) Stored(ctx context.Context, path string, content []byte) (string, error) {
	out, err := r.run(ctx, call{args: []string{"hash-object", "--stdin", "--path=" + path}, input: string(content)})
	return strings.TrimSpace(out), failed(err, "cannot tell what git would store for %s", path)
}

// Keep stores bytes as an object, unfiltered, and returns its name. git gc removes it after some weeks.
func (r *Repo) Keep(ctx context.Context, content []byte) (string, error) {
	out, err := r.run(ctx, call{args: []string{"hash-object", "-w", "--stdin"}, input: string(content)})
	return strings.TrimSpace(out), err
}

// PutTag makes the ref of a tag whose object is there, unless the name is taken.
func (r *Repo) PutTag(ctx context.Context, name string, hash plumbing.Hash) error {
	return r.moveRef(ctx, plumbing.NewTagReferenceName(name), hash, plumbing.ZeroHash)
}

// MoveBranch moves what HEAD is on from one commit to another, if it still is at the first. Index and files stay.
func (r *Repo) MoveBranch(ctx context.Context, from, to plumbing.Hash) error {
	return r.moveRef(ctx, r.Head.ref, to, from)
}

// RefName is the branch HEAD is on, or HEAD when it is detached.
func (h Head) RefName() string { return h.ref.String() }

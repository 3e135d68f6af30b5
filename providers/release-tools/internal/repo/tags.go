package repo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Tags returns the names of all tags, loose and packed, annotated and not. go-git fails at all of them when one is being
// written by somebody else, so git is asked.
func (r *Repo) Tags(ctx context.Context) ([]string, error) {
	out, err := r.run(ctx, call{args: []string{"for-each-ref", "--format=%(refname:lstrip=2)", "refs/tags"}})
	if err != nil {
		return nil, failed(err, "cannot read the tags of %s", r.Root)
	}
	return strings.Fields(out), nil
}

// Tagged is a tag with what it points to.
type Tagged struct {
	Name      string
	Commit    string // the hash it leads to, through however many tag objects
	Date      string // ISO day of the tag, or of the commit for a lightweight one
	Annotated bool
}

// TagList returns all tags that lead to a commit.
func (r *Repo) TagList(ctx context.Context) ([]Tagged, error) {
	const fields = "%(refname:lstrip=2) %(objecttype) %(objectname) %(*objecttype) %(*objectname) %(creatordate:format:%Y-%m-%d)"
	out, err := r.run(ctx, call{args: []string{"for-each-ref", "--format=" + fields, "refs/tags"}})
	if err != nil {
		return nil, failed(err, "cannot read the tags of %s", r.Root)
	}
	var tags []Tagged
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		switch {
		case len(f) == 6 && f[3] == "commit":
			tags = append(tags, Tagged{Name: f[0], Commit: f[4], Date: f[5], Annotated: true})
		case len(f) == 6 && f[3] == "tag": // a tag of a tag, which the format peels only once
			if commit, err := r.peel(ctx, f[0]); err == nil {
				tags = append(tags, Tagged{Name: f[0], Commit: commit, Date: f[5], Annotated: true})
			}
		case len(f) == 4 && f[1] == "commit":
			tags = append(tags, Tagged{Name: f[0], Commit: f[2], Date: f[3]})
		}
	}
	return tags, nil
}

// peel returns the commit that a tag leads to.
func (r *Repo) peel(ctx context.Context, tag string) (string, error) {
	out, err := r.run(ctx, call{args: []string{"rev-parse", "--verify", "--quiet", "refs/tags/" + tag + "^{commit}"}})
	return strings.TrimSpace(out), err
}

// TagFree refuses a name that is taken, or that git could not store beside an existing one ("sdk" and "sdk/v1.0.0").
func (r *Repo) TagFree(ctx context.Context, name string, tags []string) error {
	for _, t := range tags {
		switch {
		case t == name:
			return refusal.New("tag-exists", "tag %s exists already: it %s; choose another version, an existing tag is never moved",
				name, r.describeTag(ctx, name))
		case strings.HasPrefix(t, name+"/"), strings.HasPrefix(name, t+"/"):
			return refusal.New("tag-exists", "tag %s cannot be made beside the existing tag %s: git stores one as the folder of the other", name, t)
		}
	}
	return nil
}

func (r *Repo) describeTag(ctx context.Context, name string) string {
	switch hash, tag, err := r.ReadTag(ctx, name); {
	case err != nil || hash.IsZero():
		return "cannot be read"
	case tag != nil:
		return fmt.Sprintf("is annotated, by %s, and points to %s", tag.Tagger.Name, tag.Target)
	default:
		return fmt.Sprintf("is lightweight and points to %s", hash)
	}
}

// CheckTagName reports whether git takes the name for a tag.
func CheckTagName(name string) error {
	if strings.HasPrefix(name, "-") {
		return errors.New("it starts with a hyphen")
	}
	return plumbing.NewTagReferenceName(name).Validate()
}

// Tag makes an annotated tag and returns its object. It either exists afterwards, wholly, or does not.
func (r *Repo) Tag(ctx context.Context, name, message string, target plumbing.Hash, by object.Signature, s Signing) (plumbing.Hash, error) {
	if r.signsTags(s) {
		return r.signedTag(ctx, name, message, target, s)
	}
	tag := object.Tag{Name: name, Tagger: by, Message: message, TargetType: plumbing.CommitObject, Target: target}
	hash, err := r.store(ctx, &tag)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return hash, r.moveRef(ctx, plumbing.NewTagReferenceName(name), hash, plumbing.ZeroHash)
}

// signedTag lets git sign, with whatever key and program the user set up. Cancelled while it asks for a key, it may have
// been too late: what the ref says counts.
func (r *Repo) signedTag(ctx context.Context, name, message string, target plumbing.Hash, s Signing) (plumbing.Hash, error) {
	args := append(s.format(), "tag", "-s", "--cleanup=verbatim", "-F", "-", "--", name, target.String())
	_, err := r.run(ctx, call{args: args, input: message})
	ref, missing := r.git.Reference(plumbing.NewTagReferenceName(name), false)
	if err != nil && (ctx.Err() == nil || missing != nil) {
		return plumbing.ZeroHash, err
	}
	if missing != nil {
		return plumbing.ZeroHash, missing
	}
	return ref.Hash(), nil
}

// DropTag removes a tag if it still is the one with that object.
func (r *Repo) DropTag(ctx context.Context, name string, hash plumbing.Hash) error {
	_, err := r.run(ctx, call{args: []string{"update-ref", "-d", "refs/tags/" + name, hash.String()}})
	return err
}

// moveRef moves a ref from a known value under git's own lock. It is too short to be cancelled half-way.
func (r *Repo) moveRef(ctx context.Context, name plumbing.ReferenceName, to, from plumbing.Hash) error {
	_, err := r.run(context.WithoutCancel(ctx), call{
		args: []string{"update-ref", "--no-deref", "-m", "release-tools", name.String(), to.String(), from.String()},
	})
	return err
}

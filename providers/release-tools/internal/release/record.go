package release

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/repo"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// record says what a release makes. It is written before the first step and stays, so that what a killed process left
// behind can be told apart from the work of others, and a release be taken back. How much of it stands is for the
// repository to say.
type record struct {
	Version string    `json:"version"`
	Tag     string    `json:"tag"`
	Head    string    `json:"head"` // the commit before
	Ref     string    `json:"ref"`  // the branch, or HEAD
	Commit  bool      `json:"commit"`
	Path    string    `json:"path"`  // of the changelog, from the root
	Entry   string    `json:"entry"` // of the index for it, before
	Before  []byte    `json:"before"`
	After   []byte    `json:"after"`
	Message string    `json:"message"` // of the tag
	Name    string    `json:"name"`    // of who made it
	Email   string    `json:"email"`
	When    time.Time `json:"when"`

	MadeTag    string `json:"made_tag,omitempty"` // the objects, once they are known
	MadeCommit string `json:"made_commit,omitempty"`
}

func (p *Plan) record() *record {
	return &record{
		Version: p.Version.String(), Tag: p.Tag, Head: p.Head, Ref: p.repo.Head.RefName(), Commit: p.Commit,
		Path: p.file.Path, Entry: p.entry, Before: p.file.Content, After: p.After, Message: p.message,
		Name: p.tagger.Name, Email: p.tagger.Email, When: p.tagger.When,
	}
}

func (rec *record) write(r *repo.Repo) error {
	raw, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	return r.WriteNote(rec.Tag, raw)
}

// remember keeps the objects that a step made. Without it they are told by their author and time, so it may fail.
func (rec *record) remember(r *repo.Repo, commit, tag plumbing.Hash) {
	if !commit.IsZero() {
		rec.MadeCommit = commit.String()
	}
	if !tag.IsZero() {
		rec.MadeTag = tag.String()
	}
	_ = rec.write(r)
}

// readRecord returns the record of a tag, nil if there is none or a crash of the machine left half of one.
func readRecord(r *repo.Repo, tag string) (*record, error) {
	raw, err := r.ReadNote(tag)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rec := new(record)
	if json.Unmarshal(raw, rec) != nil || rec.Tag != tag {
		return nil, nil
	}
	return rec, nil
}

// prune drops the records of older releases with the same prefix: nothing can be undone below a newer release.
func (rec *record) prune(r *repo.Repo) {
	prefix := strings.TrimSuffix(rec.Tag, rec.Version)
	names, _ := r.Notes()
	for _, name := range names {
		if old, err := readRecord(r, name); err == nil && old != nil && name != rec.Tag && strings.TrimSuffix(old.Tag, old.Version) == prefix {
			_ = r.DropNote(name)
		}
	}
}

// by reports whether a signature is the one of this release.
func (rec *record) by(s object.Signature) bool {
	return s.Name == rec.Name && s.Email == rec.Email && s.When.Unix() == rec.When.Unix()
}

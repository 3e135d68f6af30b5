package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"
)

// format is raised when an older kernel would misread a plan.
const format = 1

// envelope is a plan as a file: whatever of it is changed, the checksum or the writing of it no longer fits.
type envelope struct {
	Format int             `json:"agent_plan"`
	SHA256 string          `json:"sha256"`
	Plan   json.RawMessage `json:"plan"`
}

// AlteredError says that a file is not a plan as it was written.
type AlteredError struct{ Why string }

// Kind is the name of the failure for programs.
func (e *AlteredError) Kind() string { return "altered-plan" }

func (e *AlteredError) Error() string {
	return "the plan is not as it was saved (" + e.Why + "): nothing of it is applied. Make it again with 'agent plan'"
}

// head is how every saved plan begins, and no list of calls.
var head = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\{\s*"agent_plan"`) })

// Is reports whether a file is meant to be a saved plan, sound or not.
func Is(src []byte) bool { return head().Match(src) }

// Encode writes a plan as a file: JSON for people to read, and for nobody to change. It seals the plan.
func (p *Plan) Encode() ([]byte, error) {
	if err := p.Seal(); err != nil {
		return nil, fmt.Errorf("cannot save the plan: %w", err)
	}
	body, err := canonical(p)
	if err != nil {
		return nil, fmt.Errorf("cannot save the plan: %w", err)
	}
	return envelope{Format: format, SHA256: Digest(body), Plan: body}.encode()
}

func (e envelope) encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(e)
	return b.Bytes(), err
}

// Decode reads a saved plan. Not one byte of it may be another than Encode wrote; the error is an *AlteredError then.
func Decode(src []byte) (*Plan, error) {
	var e envelope
	if err := json.Unmarshal(src, &e); err != nil {
		return nil, &AlteredError{"it is not JSON: " + err.Error()}
	}
	if e.Format > format {
		return nil, fmt.Errorf("the plan has format %d, and this agent reads up to %d: apply it with the agent that made it", e.Format, format)
	}
	var body bytes.Buffer
	if err := json.Compact(&body, e.Plan); err != nil || Digest(body.Bytes()) != e.SHA256 {
		return nil, &AlteredError{"its checksum does not fit"}
	}
	if written, err := e.encode(); err != nil || !bytes.Equal(written, src) {
		return nil, &AlteredError{"it was written anew"}
	}
	p := &Plan{}
	d := json.NewDecoder(&body)
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, &AlteredError{err.Error()}
	}
	if err := p.check(); err != nil {
		return nil, &AlteredError{err.Error()}
	}
	return p, nil
}

// Save writes a plan to a file that only its owner can read, all of it or nothing. It replaces a plan, and another file
// only with force.
func (p *Plan) Save(path string, force bool) error {
	text, err := p.Encode()
	if err != nil {
		return err
	}
	if err := replaceable(path, force); err != nil {
		return fmt.Errorf("cannot save the plan: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".agent-plan-*")
	if err != nil {
		return fmt.Errorf("cannot save the plan: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("cannot save the plan: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// replaceable reports what is against another file in the place of this one.
func replaceable(path string, force bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is there already and is no file", path)
	case force:
		return nil
	}
	there, err := os.ReadFile(path)
	if err == nil && !Is(there) {
		return fmt.Errorf("%s is there already and is no plan: choose another name, or replace it with --force", path)
	}
	return err
}

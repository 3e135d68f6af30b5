package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/adrg/xdg"
	"github.com/gofrs/flock"
)

// Store remembers which plans were applied, in a folder with one file a plan; the folder need not be there yet.
type Store struct{ dir string }

// DefaultStore is that of the user: $XDG_STATE_HOME/agent/plans.
func DefaultStore() Store { return Store{filepath.Join(xdg.StateHome, "agent", "plans")} }

// Record is the trace of a plan that is being applied. Its methods may be called from many goroutines.
type Record struct {
	mu   sync.Mutex
	file *os.File
	lock *flock.Flock
}

// line is one line of a record.
type line struct {
	At      time.Time `json:"at"`
	Call    string    `json:"call,omitempty"`
	Began   bool      `json:"began,omitempty"`
	Status  string    `json:"status,omitempty"`
	Applied bool      `json:"applied,omitempty"` // all of it is over
}

// AppliedError says that a plan was applied before, as a whole or in part.
type AppliedError struct {
	// Running says that another process is at it.
	Running bool
	// Began is when the first call began; Whole says that it came to the end.
	Began time.Time
	Whole bool
	// Calls are those that began, in that order.
	Calls []Trace
}

// Trace is what is known of one call of a plan that was applied. Status is empty when the process ended before the call did.
type Trace struct{ Call, Status string }

// Kind is the name of the failure for programs.
func (e *AppliedError) Kind() string { return "already-applied" }

func (e *AppliedError) Error() string {
	if e.Running {
		return "already-applied: another process is applying this plan now"
	}
	parts := make([]string, len(e.Calls))
	for i, c := range e.Calls {
		parts[i] = c.Call + ": " + c.Status
		if c.Status == "" {
			parts[i] = c.Call + ": had begun, nobody saw its end"
		}
	}
	text := fmt.Sprintf("already-applied: this plan was applied at %s (%s)", e.Began.Local().Format("2006-01-02 15:04:05"), strings.Join(parts, "; "))
	if !e.Whole {
		text += " and cut off then; other calls of it did not run"
	}
	return text + ". Make a new plan with 'agent plan'"
}

// Claim begins to apply a plan. The error is an *AppliedError when a call of it has begun before, in whichever process.
// The caller ends the record with Close.
func (s Store) Claim(p *Plan) (*Record, error) {
	fail := func(err error) (*Record, error) {
		return nil, fmt.Errorf("cannot keep a record of the plan, and without one it could be applied twice: %w", err)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fail(err)
	}
	name := filepath.Join(s.dir, p.ID)
	lock := flock.New(name+".lock", flock.SetPermissions(0o600))
	switch locked, err := lock.TryLock(); {
	case err != nil:
		return fail(err)
	case !locked:
		return nil, &AppliedError{Running: true}
	}
	text, err := os.ReadFile(name + ".jsonl")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fail(errors.Join(err, lock.Unlock()))
	}
	if applied := read(text); applied != nil {
		return nil, errors.Join(applied, lock.Unlock())
	}
	f, err := os.OpenFile(name+".jsonl", os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fail(errors.Join(err, lock.Unlock()))
	}
	r := &Record{file: f, lock: lock}
	if err := errors.Join(r.write(line{}), syncDir(s.dir)); err != nil {
		return fail(errors.Join(err, r.Close()))
	}
	return r, nil
}

// Began notes that a call is about to be made. It returns when that is safe from the end of this process.
func (r *Record) Began(call string) error { return r.write(line{Call: call, Began: true}) }

// Ended notes how a call ended.
func (r *Record) Ended(call, status string) error { return r.write(line{Call: call, Status: status}) }

// Applied notes that nothing of the plan is left to do.
func (r *Record) Applied() error { return r.write(line{Applied: true}) }

// Close lets the plan go. Nothing is noted afterwards.
func (r *Record) Close() error { return errors.Join(r.file.Close(), r.lock.Unlock()) }

func (r *Record) write(l line) error {
	l.At = time.Now().UTC()
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err = r.file.Write(append(text, '\n'))
	return errors.Join(err, r.file.Sync())
}

// read is what a record says about a plan; nil when no call of it has begun. A line that was cut off was not finished
// before whatever it is about happened.
func read(text []byte) *AppliedError {
	applied := &AppliedError{}
	at := map[string]int{}
	for text := range bytes.Lines(text) {
		var l line
		if json.Unmarshal(text, &l) != nil {
			continue
		}
		i, begun := at[l.Call]
		switch {
		case l.Applied:
			applied.Whole = true
		case l.Began && !begun:
			if len(applied.Calls) == 0 {
				applied.Began = l.At
			}
			at[l.Call] = len(applied.Calls)
			applied.Calls = append(applied.Calls, Trace{Call: l.Call})
		case l.Status != "" && begun:
			applied.Calls[i].Status = l.Status
		}
	}
	if len(applied.Calls) == 0 {
		return nil
	}
	return applied
}

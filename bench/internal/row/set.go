package row

import (
	"encoding/json"
	"os"
)

// Set is the rows of one run, and what is to be known of it.
type Set struct {
	Started string            `json:"started"`
	Machine string            `json:"machine"`
	Cores   int               `json:"cores,omitempty"`
	Scale   float64           `json:"scale"`
	About   map[string]string `json:"about"` // each subject, in a line
	Kinds   map[string]string `json:"kinds,omitempty"`
	Skipped map[string]string `json:"skipped"` // those that were not measured, and why
	// Binaries are the sizes of ours, in bytes.
	Binaries map[string]int64 `json:"binaries,omitempty"`
	// Interrupted says that the run was ended before all was measured.
	Interrupted bool   `json:"interrupted,omitempty"`
	Rows        []*Row `json:"rows"`
	// Bounds are those of the targets that the run did not meet.
	Bounds []Bound `json:"bounds,omitempty"`
}

// Get finds a row that was measured; nil when there is none.
func (s *Set) Get(subject, op string) *Row {
	for _, r := range s.Rows {
		if r.Subject == subject && r.Op == op && (r.Status == OK || r.Status == Truncated) {
			return r
		}
	}
	return nil
}

// Save writes the set as JSON, so that the file is always a whole one.
func (s *Set) Save(path string) error {
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", append(b, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Load reads what Save wrote.
func Load(path string) (*Set, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &Set{}
	return s, json.Unmarshal(b, s)
}

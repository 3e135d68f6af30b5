package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
)

// counts are what was counted, by name, for one call.
type counts map[string]float64

// limits are counts that were recorded.
type limits map[string]float64

// slack is how much more than recorded is no regression: what is counted while goroutines and the collector run differs a
// little from run to run.
func slack(recorded float64) float64 { return recorded*1.1 + 3 }

// lower takes what was less the second time.
func (c counts) lower(again counts) {
	for name, n := range again {
		if before, ok := c[name]; ok {
			c[name] = min(before, n)
		}
	}
}

// exceeded reports whether something is over its limit.
func (l limits) exceeded(c counts) bool {
	for name, n := range c {
		if recorded, ok := l[name]; ok && n > slack(recorded) {
			return true
		}
	}
	return false
}

func readLimits(file string) (limits, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return limits{}, nil
	}
	if err != nil {
		return nil, err
	}
	l := limits{}
	if err := json.Unmarshal(b, &l); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return l, nil
}

// write writes the file, by names.
func (l limits) write(file string) error {
	b, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}

// record takes counts as limits. What was skipped keeps the one it has.
func (l limits) record(c counts, skipped map[string]string) limits {
	recorded := limits{}
	for name, n := range c {
		recorded[name] = n
	}
	for name := range skipped {
		if n, ok := l[name]; ok {
			recorded[name] = n
		}
	}
	return recorded
}

// hold says what is counted beside its limit. The error names what is over, what has no limit, and what was not counted.
func (l limits) hold(c counts, skipped map[string]string, w io.Writer) error {
	var failed []error
	for _, name := range slices.Sorted(maps.Keys(c)) {
		recorded, ok := l[name]
		switch {
		case !ok:
			failed = append(failed, fmt.Errorf("%s has no limit: record it with make counted-update", name))
			continue
		case c[name] > slack(recorded):
			failed = append(failed, fmt.Errorf("%s: %.0f for a call, where %.0f are recorded and %.0f would pass: find out why, or record it with make counted-update", name, c[name], recorded, slack(recorded)))
		}
		fmt.Fprintf(w, "%-60s %10.0f of %10.0f\n", name, c[name], recorded)
	}
	for _, name := range slices.Sorted(maps.Keys(l)) {
		_, counted := c[name]
		_, left := skipped[name]
		if !counted && !left {
			failed = append(failed, fmt.Errorf("%s is recorded and was not counted: its benchmark is gone or has another name", name))
		}
	}
	return errors.Join(failed...)
}

// Package secret keeps the values of sensitive attributes out of what a provider sends.
package secret

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// ShortestHidden is the length in bytes from which a value is hidden. A shorter one is found in too much that has
// nothing to do with it, and is not much of a secret.
const ShortestHidden = 8

// mask stands where a value was. It is not longer than the shortest one, so nothing grows.
const mask = "********"

// Set is what must not be sent. The zero value is empty; it is safe for concurrent use.
type Set struct{ spellings atomic.Pointer[[]string] }

// Hide makes values the set's. Each is known as it is, without the space around it, line by line, and as Go, JSON and URLs
// write it.
func (s *Set) Hide(values []string) {
	var all []string
	for _, value := range values {
		if len(strings.TrimSpace(value)) < ShortestHidden {
			continue
		}
		for _, text := range spans(value) {
			all = append(all, text, inner(strconv.Quote(text)), inner(strconv.QuoteToASCII(text)),
				inner(inJSON(text, true)), inner(inJSON(text, false)), url.QueryEscape(text), url.PathEscape(text))
		}
	}
	// The longest first: one may be a part of another.
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	all = slices.Compact(all)
	if len(all) > 0 {
		s.spellings.Store(&all)
	}
}

// spans are the parts of a value that are found alone. One of several lines, such as a key, comes apart in a diff and in
// the output of most programs.
func spans(value string) []string {
	out := []string{value, strings.TrimSpace(value)}
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); len(line) >= ShortestHidden {
			out = append(out, line)
		}
	}
	return out
}

// inJSON is value as encoding/json writes it, which makes text fit for HTML too unless it is told not to.
func inJSON(value string, forHTML bool) string {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(forHTML)
	_ = e.Encode(value) // a string always encodes
	return strings.TrimSuffix(text.String(), "\n")
}

func inner(quoted string) string { return quoted[1 : len(quoted)-1] }

// Empty reports whether there is nothing to hide.
func (s *Set) Empty() bool { return s == nil || s.spellings.Load() == nil }

// Text is t without the values.
func (s *Set) Text(t string) string {
	if s.Empty() {
		return t
	}
	for _, spelling := range *s.spellings.Load() {
		t = strings.ReplaceAll(t, spelling, mask)
	}
	return t
}

// Bytes is b without the values: b itself when none is in it.
func (s *Set) Bytes(b []byte) []byte {
	if s.Empty() {
		return b
	}
	for _, spelling := range *s.spellings.Load() {
		if bytes.Contains(b, []byte(spelling)) {
			b = bytes.ReplaceAll(b, []byte(spelling), []byte(mask))
		}
	}
	return b
}

// In reports whether a value is in b.
func (s *Set) In(b []byte) bool {
	if s.Empty() {
		return false
	}
	return slices.ContainsFunc(*s.spellings.Load(), func(spelling string) bool { return bytes.Contains(b, []byte(spelling)) })
}

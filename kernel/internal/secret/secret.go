// Package secret keeps the values of sensitive attributes out of what the kernel shows and stores.
//
// The values are found by their text, wherever they turn up: as they are, and as Go, JSON, URLs, base64 and hex write
// them. A provider that encodes a value another way, or spells it letter by letter, is not seen through.
package secret

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// Shortest is the length in bytes from which a value is hidden. A shorter one is found in too much that has nothing to do
// with it: to hide it would spoil what is shown, and say what it is.
const Shortest = 6

// mask stands where a value was.
const mask = "********"

// Set is what must not be shown. The zero value is empty; it is safe for concurrent use, and a nil one hides nothing.
type Set struct {
	mu        sync.Mutex // held by Hide
	spellings atomic.Pointer[[]string]
}

// Hide adds values to the set.
func (s *Set) Hide(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.list())
	for _, value := range values {
		for _, span := range spans(value) {
			all = append(all, spellings(span)...)
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
func spans(value string) (all []string) {
	for _, span := range append([]string{value, strings.TrimSpace(value)}, strings.Split(value, "\n")...) {
		if len(strings.TrimSpace(span)) >= Shortest {
			all = append(all, span, strings.TrimSpace(span))
		}
	}
	return all
}

// spellings are the forms in which a text turns up.
func spellings(text string) []string {
	all := []string{
		text, inner(strconv.Quote(text)), inner(strconv.QuoteToASCII(text)), inner(inJSON(text, true)), inner(inJSON(text, false)),
		url.QueryEscape(text), strings.ReplaceAll(url.QueryEscape(text), "+", "%20"), url.PathEscape(text), lowerEscapes(url.QueryEscape(text)),
		hex.EncodeToString([]byte(text)), strings.ToUpper(hex.EncodeToString([]byte(text))),
	}
	for before := range 3 { // as in user:password, encoded as one
		all = append(all, inBase64(text, before, base64.RawStdEncoding), inBase64(text, before, base64.RawURLEncoding))
	}
	return all
}

// lowerEscapes is a URL's text with %2f where others write %2F.
func lowerEscapes(text string) string {
	b := []byte(text)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

// inBase64 is what a text looks like with a number of bytes before it, and any after it: the characters that it alone
// decides.
func inBase64(text string, before int, e *base64.Encoding) string {
	padded := append(make([]byte, before), text...)
	encoded := e.EncodeToString(padded)
	from := (before*8 + 5) / 6
	to := len(padded) * 8 / 6
	return encoded[from:to]
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

func (s *Set) list() []string {
	if s == nil {
		return nil
	}
	if all := s.spellings.Load(); all != nil {
		return *all
	}
	return nil
}

// Text is t without the values.
func (s *Set) Text(t string) string {
	for _, spelling := range s.list() {
		t = strings.ReplaceAll(t, spelling, mask)
	}
	return t
}

// Bytes is b without the values: b itself when none is in it, else a copy.
func (s *Set) Bytes(b []byte) []byte {
	for _, spelling := range s.list() {
		if bytes.Contains(b, []byte(spelling)) {
			b = bytes.ReplaceAll(b, []byte(spelling), []byte(mask))
		}
	}
	return b
}

// In reports whether a value is in b.
func (s *Set) In(b []byte) bool {
	return slices.ContainsFunc(s.list(), func(spelling string) bool { return bytes.Contains(b, []byte(spelling)) })
}

// in reports whether a value is in t.
func (s *Set) in(t string) bool {
	return slices.ContainsFunc(s.list(), func(spelling string) bool { return strings.Contains(t, spelling) })
}

// Of are the values of the sensitive attributes of a configuration.
func Of(attributes []*configv1.ConfigAttribute, config *structpb.Struct) (values []string) {
	for _, attribute := range attributes {
		value, ok := config.GetFields()[attribute.GetName()]
		switch {
		case !ok:
		case attribute.GetSensitive():
			values = append(values, texts(value)...)
		default:
			values = append(values, Of(attribute.GetObjectAttributes(), value.GetStructValue())...)
		}
	}
	return values
}

// texts are all the texts in a value.
func texts(value *structpb.Value) (all []string) {
	switch v := value.GetKind().(type) {
	case *structpb.Value_StringValue:
		return []string{v.StringValue}
	case *structpb.Value_NumberValue:
		return []string{strconv.FormatFloat(v.NumberValue, 'f', -1, 64)}
	case *structpb.Value_ListValue:
		for _, item := range v.ListValue.GetValues() {
			all = append(all, texts(item)...)
		}
	case *structpb.Value_StructValue:
		for _, item := range v.StructValue.GetFields() {
			all = append(all, texts(item)...)
		}
	}
	return all
}

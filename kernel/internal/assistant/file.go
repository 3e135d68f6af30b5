package assistant

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
)

// FileError says why the content of a file cannot be edited.
type FileError struct {
	// Line is where, from one; 0 when it is about no line.
	Line int
	Why  string
}

func (e *FileError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Why)
	}
	return e.Why
}

// text is the content of a file without what is the same in every format.
type text struct {
	mark []byte // the byte order mark that Windows editors put in front
	body []byte
	eol  string
}

func parted(content []byte) text {
	t := text{body: content, eol: "\n"}
	if bom := []byte("\xef\xbb\xbf"); bytes.HasPrefix(content, bom) {
		t.mark, t.body = bom, content[len(bom):]
	}
	if first := bytes.IndexByte(t.body, '\n'); first > 0 && t.body[first-1] == '\r' {
		t.eol = "\r\n"
	}
	return t
}

// joined is the content with another body.
func (t text) joined(body []byte) []byte { return append(bytes.Clone(t.mark), body...) }

// lines are some of ours, as the file ends its own.
func (t text) lines(s string) string { return strings.ReplaceAll(s, "\n", t.eol) }

// onlyAdds checks that an edit has changed nothing but the entry. Both are what the whole content says.
func onlyAdds(before, after map[string]any, key string, e Entry) error {
	servers, _ := after[key].(map[string]any)
	if !e.is(servers[e.Name]) || !reflect.DeepEqual(without(before, key, e.Name), without(after, key, e.Name)) {
		return &FileError{Why: fmt.Sprintf("%s is written in a way that cannot be edited safely; put the entry in by hand", key)}
	}
	return nil
}

// without is what content says besides an entry.
func without(all map[string]any, key, name string) map[string]any {
	rest := map[string]any{}
	for k, v := range all {
		rest[k] = v
	}
	servers, ok := all[key].(map[string]any)
	if !ok {
		return rest
	}
	others := map[string]any{}
	for k, v := range servers {
		if k != name {
			others[k] = v
		}
	}
	rest[key] = others
	if len(others) == 0 {
		delete(rest, key)
	}
	return rest
}

package assistant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonFormat is JSON, with the comments and trailing commas that the clients allow.
type jsonFormat struct {
	// key is the member of the file that holds the servers.
	key string
	// kind is a member, and its value, that says what kind of server it is; empty when the client wants none.
	kind [2]string
}

func (f jsonFormat) snippet(e Entry) string {
	s := style{eol: "\n", indent: "  "}
	return s.object(0, quoted(f.key)+": "+f.servers(e, s, 1))
}

// servers is an object with the entry.
func (f jsonFormat) servers(e Entry, s style, depth int) string {
	return s.object(depth, quoted(e.Name)+": "+f.server(e, s, depth+1))
}

// server is the entry by itself.
func (f jsonFormat) server(e Entry, s style, depth int) string {
	members := []string{`"command": ` + quoted(e.Command), `"args": ` + list(e.Args)}
	if f.kind[0] != "" {
		members = append([]string{quoted(f.kind[0]) + ": " + quoted(f.kind[1])}, members...)
	}
	return s.object(depth, members...)
}

// quoted is a string in JSON, and a basic string of TOML, which takes one character less as it is.
func quoted(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // of a string, to memory
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007f`)
}

// list is one of strings, in one line, in either format.
func list(items []string) string {
	written := make([]string, len(items))
	for i, item := range items {
		written[i] = quoted(item)
	}
	return "[" + strings.Join(written, ", ") + "]"
}

func (f jsonFormat) edit(content []byte, e Entry, force bool) ([]byte, error) {
	t := parted(content)
	if len(bytes.TrimSpace(t.body)) == 0 {
		return t.joined([]byte(t.lines(f.snippet(e) + "\n"))), nil
	}
	before, err := decodedJSON(t.body)
	if err != nil {
		return nil, err
	}
	root, err := hujson.Parse(t.body)
	if err != nil {
		return nil, unreadable(err)
	}
	changed, err := f.put(&root, t, e, force)
	if err != nil || !changed {
		return content, err
	}
	body := root.Pack()
	after, err := decodedJSON(body)
	if err != nil {
		return nil, err
	}
	return t.joined(body), onlyAdds(before, after, f.key, e)
}

// put changes a tree; changed is false when the entry is there already.
func (f jsonFormat) put(root *hujson.Value, t text, e Entry, force bool) (changed bool, err error) {
	style := styleOf(root, t.eol)
	all, err := members(root, "the file")
	if err != nil {
		return false, err
	}
	servers, err := member(all, f.key)
	if err != nil {
		return false, err
	}
	if servers == nil {
		style.insert(all, 0, f.key, f.servers(e, style, 1))
		return true, nil
	}
	in, err := members(servers, f.key)
	if err != nil {
		return false, err
	}
	there, err := member(in, e.Name)
	if err != nil {
		return false, err
	}
	if there == nil {
		style.insert(in, 1, e.Name, f.server(e, style, 2))
		return true, nil
	}
	return f.replace(there, style, e, force)
}

func (f jsonFormat) replace(there *hujson.Value, style style, e Entry, force bool) (changed bool, err error) {
	plain := there.Clone()
	plain.Standardize() //nolint:misspell // the spelling of the library
	var said any
	if err := json.Unmarshal(plain.Pack(), &said); err != nil {
		return false, &FileError{Why: err.Error()}
	}
	switch {
	case e.is(said):
		return false, nil
	case !force && !e.serves(said):
		return false, other(e.Name, said)
	}
	there.Value = parsed(f.server(e, style, 2))
	return true, nil
}

// decodedJSON is what a file says.
func decodedJSON(body []byte) (map[string]any, error) {
	plain, err := hujson.Standardize(bytes.Clone(body)) //nolint:misspell // the spelling of the library
	if err != nil {
		return nil, unreadable(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(plain))
	decoder.UseNumber()
	var said any
	if err := decoder.Decode(&said); err != nil {
		return nil, unreadable(err)
	}
	all, ok := said.(map[string]any)
	if !ok {
		return nil, &FileError{Why: "it holds no JSON object"}
	}
	return all, nil
}

func unreadable(err error) error {
	why := strings.TrimPrefix(err.Error(), "hujson: ")
	var e FileError
	if rest, ok := strings.CutPrefix(why, "line "); ok {
		var column int
		if n, _ := fmt.Sscanf(rest, "%d, column %d:", &e.Line, &column); n == 2 {
			_, why, _ = strings.Cut(rest, ": ")
		}
	}
	e.Why = "it is not JSON: " + why
	return &e
}

// members is the object that a value must be.
func members(v *hujson.Value, what string) (*hujson.Object, error) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, &FileError{Why: what + " is not a JSON object"}
	}
	return object, nil
}

// member is the value of a key; nil when there is none. Of two, nobody knows which one the client takes.
func member(o *hujson.Object, key string) (*hujson.Value, error) {
	var found *hujson.Value
	for i := range o.Members {
		name, ok := o.Members[i].Name.Value.(hujson.Literal)
		if !ok || name.String() != key {
			continue
		}
		if found != nil {
			return nil, &FileError{Why: fmt.Sprintf("%q is in it twice", key)}
		}
		found = &o.Members[i].Value
	}
	return found, nil
}

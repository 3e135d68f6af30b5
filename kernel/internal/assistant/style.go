package assistant

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// style is how a JSON file is laid out.
type style struct {
	eol, indent string
}

// styleOf takes the indentation from the first member that begins a line.
func styleOf(root *hujson.Value, eol string) style {
	s := style{eol: eol, indent: "  "}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return s
	}
	for i := range object.Members {
		before := object.Members[i].Name.BeforeExtra
		if at := bytes.LastIndexByte(before, '\n'); at >= 0 {
			if white := string(before[at+1:]); white != "" && strings.Trim(white, " \t") == "" {
				s.indent = white
				return s
			}
		}
	}
	return s
}

// object is one of ours, whose closing brace is at a depth.
func (s style) object(depth int, members ...string) string {
	outer, inner := s.eol+strings.Repeat(s.indent, depth), s.eol+strings.Repeat(s.indent, depth+1)
	return "{" + inner + strings.Join(members, ","+inner) + outer + "}"
}

// parsed is a value of ours.
func parsed(written string) hujson.ValueTrimmed {
	value, err := hujson.Parse([]byte(written))
	if err != nil {
		panic("assistant: an entry that is not JSON: " + err.Error())
	}
	return value.Value
}

// insert adds a member behind all others. Comments that follow the last one stay with it, and a comma that ends the
// object still does.
func (s style) insert(o *hujson.Object, depth int, key, written string) {
	rest := bytes.TrimRight(o.AfterExtra, " \t\r\n")
	closing := strings.Repeat(s.indent, depth)
	if at := bytes.LastIndexByte(o.AfterExtra, '\n'); at >= len(rest) {
		closing = string(o.AfterExtra[at+1:])
	}
	added := hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: hujson.Extra(string(rest) + s.eol + strings.Repeat(s.indent, depth+1)), Value: hujson.String(key)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: parsed(written)},
	}
	if last := len(o.Members) - 1; last >= 0 && o.Members[last].Value.AfterExtra != nil {
		added.Value.AfterExtra = hujson.Extra{}
	}
	o.Members = append(o.Members, added)
	o.AfterExtra = hujson.Extra(s.eol + closing)
}

package assistant

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlFormat is TOML, with a table for each server.
type tomlFormat struct {
	// key is the table that holds those of the servers.
	key string
	// timeout is how long the client is to wait for a call, in seconds.
	timeout int
}

func (f tomlFormat) snippet(e Entry) string {
	return fmt.Sprintf("[%s.%s]\ncommand = %s\nargs = %s\ntool_timeout_sec = %d", f.key, e.Name, quoted(e.Command), list(e.Args), f.timeout)
}

func (f tomlFormat) edit(content []byte, e Entry, force bool) ([]byte, error) {
	t := parted(content)
	before, err := decodedTOML(t.body)
	if err != nil {
		return nil, err
	}
	servers, ok := before[f.key].(map[string]any)
	if before[f.key] != nil && !ok {
		return nil, &FileError{Why: f.key + " is not a table"}
	}
	body := bytes.Clone(t.body)
	if there := servers[e.Name]; there != nil {
		switch {
		case e.is(there):
			return content, nil
		case !force && !e.serves(there):
			return nil, other(e.Name, there)
		}
		body = f.removed(body, e.Name)
	}
	body = append(body, t.lines(separation(body)+f.snippet(e)+"\n")...)
	after, err := decodedTOML(body)
	if err != nil {
		return nil, &FileError{Why: fmt.Sprintf("%s is written in a way that cannot be added to; put the entry in by hand", f.key)}
	}
	return t.joined(body), onlyAdds(before, after, f.key, e)
}

// separation is what goes between a table and what is before it.
func separation(body []byte) string {
	switch {
	case len(bytes.TrimSpace(body)) == 0, bytes.HasSuffix(body, []byte("\n\n")), bytes.HasSuffix(body, []byte("\n\r\n")):
		return ""
	case bytes.HasSuffix(body, []byte("\n")):
		return "\n"
	default:
		return "\n\n"
	}
}

func decodedTOML(body []byte) (map[string]any, error) {
	all := map[string]any{}
	err := toml.Unmarshal(body, &all)
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		line, _ := wrong.Position()
		return nil, &FileError{Line: line, Why: "it is not TOML: " + strings.TrimPrefix(wrong.Error(), "toml: ")}
	}
	if err != nil {
		return nil, &FileError{Why: "it is not TOML: " + strings.TrimPrefix(err.Error(), "toml: ")}
	}
	return all, nil
}

// removed is a body without the tables of a server, each of which goes on until the next one begins. Comments in front
// of that one are its own.
func (f tomlFormat) removed(body []byte, name string) []byte {
	var kept []byte
	from, drop := 0, false
	for _, table := range tables(body) {
		at := table.start
		if drop {
			at = commentsBefore(body, from, at)
		}
		if !drop {
			kept = append(kept, body[from:at]...)
		}
		from, drop = at, len(table.key) >= 2 && table.key[0] == f.key && table.key[1] == name
	}
	if !drop {
		kept = append(kept, body[from:]...)
	}
	return kept
}

// tableHead is where a table begins.
type tableHead struct {
	start int // of its line
	key   []string
}

func tables(body []byte) []tableHead {
	var found []tableHead
	var p unstable.Parser
	p.Reset(body)
	for p.NextExpression() {
		x := p.Expression()
		if x.Kind != unstable.Table && x.Kind != unstable.ArrayTable {
			continue
		}
		head := tableHead{start: -1}
		for parts := x.Key(); parts.Next(); {
			part := parts.Node()
			if head.start < 0 {
				head.start = bytes.LastIndexByte(body[:part.Raw.Offset], '\n') + 1
			}
			head.key = append(head.key, string(part.Data))
		}
		found = append(found, head)
	}
	return found
}

// commentsBefore is where the comments that end at a line begin, no earlier than the line after from.
func commentsBefore(body []byte, from, at int) int {
	for {
		previous := bytes.LastIndexByte(body[:max(at-1, 0)], '\n') + 1
		if previous <= from || !bytes.HasPrefix(bytes.TrimSpace(body[previous:at]), []byte("#")) {
			return at
		}
		at = previous
	}
}

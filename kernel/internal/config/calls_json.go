package config

import (
	"bytes"
	"regexp"
	"strconv"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"

	"github.com/agentco/agent/kernel/internal/schema"
)

var jsonCallAttributes = append([]string{"name"}, callAttributes...)

// readJSON reads a list of calls, or an object that has it as "calls". The parser of HCL knows where everything stands.
func (l *calls) readJSON(src []byte, shown string) {
	l.file = &file{name: shown, src: bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")), body: &hclsyntax.Body{}}
	l.file.mark = len(src) - len(l.file.src)
	if at, deep := jsonTooDeep(l.file.src); deep {
		start, end := hcl.Pos{Line: 1, Byte: at}, hcl.Pos{Line: 1, Byte: at + 1} // the line is found by the byte
		l.fail(hcl.Range{Filename: shown, Start: start, End: end}, "Nested too deeply", "At most %d levels are read.", maxNesting)
		return
	}
	whole, diags := json.ParseExpression(l.file.src, shown)
	if l.diags = diags; diags.HasErrors() {
		return
	}
	items, diags := hcl.ExprList(whole)
	if diags.HasErrors() {
		items = l.jsonCalls(whole)
	}
	for _, item := range items {
		l.addObject(item)
	}
}

// jsonCalls is the list in {"calls": […]}.
func (l *calls) jsonCalls(whole hcl.Expression) (items []hcl.Expression) {
	for _, a := range l.pairs(whole) {
		if a.name != "calls" {
			l.fail(a.at, "Unknown field "+quoted(a.name)+schema.Hint(a.name, []string{"calls"}), "Write a list of calls, or {\"calls\": […]}.")
			continue
		}
		list, diags := hcl.ExprList(a.expr)
		if diags.HasErrors() {
			l.fail(a.expr.Range(), "Expected a list", "Write {\"calls\": [{\"operation\": …}]}.")
		}
		items = append(items, list...)
	}
	return items
}

// pairs are the members of an object.
func (l *calls) pairs(expr hcl.Expression) []field {
	var pairs []field
	members, diags := hcl.ExprMap(expr)
	if diags.HasErrors() {
		l.fail(expr.Range(), "Expected an object", "Write a call as {\"operation\": \"PROVIDER.TOOL\", \"arguments\": {…}}.")
	}
	for _, m := range members {
		key, _ := m.Key.Value(nil)
		name, _ := asString(key)
		pairs = append(pairs, field{name, m.Key.Range(), m.Value})
	}
	return pairs
}

func (l *calls) addObject(item hcl.Expression) {
	before := len(l.diags)
	e := entry{name: strconv.Itoa(len(l.list) + 1), at: item.StartRange(), fields: l.pairs(item), readArguments: l.jsonArguments}
	if len(l.diags) > before {
		return
	}
	for _, a := range e.fields {
		if a.name == "name" {
			e.name = l.constant(a.expr)
		}
	}
	l.add(e, jsonCallAttributes)
}

// jsonArguments takes the arguments as they stand: what JSON says, the wire says as well.
func (l *calls) jsonArguments(c *Call, expr hcl.Expression) {
	c.values = map[string]hcl.Range{}
	before := len(l.diags)
	for _, a := range l.pairs(expr) {
		c.values[a.name] = hcl.RangeBetween(a.at, a.expr.Range())
	}
	if len(l.diags) > before {
		return
	}
	l.decodeArguments(c, l.source(expr.Range()))
}

// ofProto is what an error says about whose syntax it is, and where in a text that nobody sees.
var ofProto = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^proto:[\s\x{a0}]*|\(line \d+:\d+\):[\s\x{a0}]*`) })

// decodeArguments reads arguments in JSON.
func (l *calls) decodeArguments(c *Call, text []byte) {
	if err := c.Arguments.UnmarshalJSON(text); err != nil {
		l.fail(c.arguments, "Invalid arguments", "%s.", capital(ofProto().ReplaceAllString(err.Error(), "")))
		return
	}
	if err := schema.CheckNumbers(text); err != nil {
		l.fail(c.arguments, "Invalid arguments", "%s.", sentence(err))
	}
}

// jsonTooDeep finds where JSON is nested too deeply to be read by a parser that recurses.
func jsonTooDeep(src []byte) (at int, deep bool) {
	open, text := 0, false
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			if open++; open > maxNesting {
				return i, true
			}
		case c == '}' || c == ']':
			open = max(0, open-1)
		}
	}
	return 0, false
}

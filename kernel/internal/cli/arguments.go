package cli

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/schema"
	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
)

// arguments builds the arguments of a call out of --args and the words of a command line. Values are typed
// by the schema. What does not fit, the kernel's own check says; here only what cannot be expressed fails.
type arguments struct {
	schema *schemav1.Schema
	values map[string]*structpb.Value
	// typed are the names given as words: a second word adds to a list and is a mistake elsewhere.
	typed map[string]bool
}

// parseArguments reads --args (JSON, @FILE or @- for stdin; empty for none) and then words, which win over
// it. With positional set a word without = fills the next argument. A wait for a file, or for stdin, ends with ctx.
func parseArguments(ctx context.Context, s *schemav1.Schema, args string, words []string, positional bool) (*structpb.Struct, error) {
	given, err := readArgs(ctx, args)
	if err != nil {
		return nil, err
	}
	return given.with(s, words, positional)
}

// argsObject is what --args says, and where that was said. The zero value is that of no --args.
type argsObject struct {
	text []byte
	from string
}

// with builds the arguments of the object and words.
func (o argsObject) with(s *schemav1.Schema, words []string, positional bool) (*structpb.Struct, error) {
	a := &arguments{schema: s, values: map[string]*structpb.Value{}, typed: map[string]bool{}}
	if err := a.object(o); err != nil {
		return nil, err
	}
	var bare []string
	for _, w := range words {
		name, value, pair := strings.Cut(w, "=")
		switch {
		case pair && isName(name):
			if err := a.set(name, value); err != nil {
				return nil, err
			}
		case positional:
			bare = append(bare, w)
		default:
			return nil, usagef("%q is not an argument: write NAME=VALUE%s", w, a.names())
		}
	}
	// After the pairs, so that their order does not matter.
	for _, w := range bare {
		if err := a.place(w); err != nil {
			return nil, err
		}
	}
	return &structpb.Struct{Fields: a.values}, nil
}

func isName(s string) bool {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}
	return s != "" && strings.IndexFunc(s, other) < 0
}

// names tells which arguments there are.
func (a *arguments) names() string {
	if len(a.schema.GetProperties()) == 0 {
		return " (it takes none)"
	}
	return " (it takes " + strings.Join(slices.Sorted(maps.Keys(a.schema.GetProperties())), ", ") + ")"
}

func (a *arguments) object(o argsObject) error {
	if o.from == "" {
		return nil
	}
	s := &structpb.Struct{}
	if err := s.UnmarshalJSON(o.text); err != nil {
		why := strings.TrimSpace(strings.TrimPrefix(err.Error(), "proto:")) // whose syntax it is, nobody needs to know
		return usagef("%s is not a JSON object: %s", o.from, why)
	}
	if err := schema.CheckNumbers(o.text); err != nil {
		return usagef("%s: %w", o.from, err)
	}
	maps.Copy(a.values, s.GetFields())
	return nil
}

func readArgs(ctx context.Context, args string) (argsObject, error) {
	if args == "" {
		return argsObject{}, nil
	}
	file, isFile := strings.CutPrefix(args, "@")
	if !isFile {
		return argsObject{[]byte(args), "--args"}, nil
	}
	o := argsObject{from: file}
	if file == "-" {
		o.from = "what stdin gave to --args"
	}
	var err error
	if o.text, err = readSource(ctx, file); err != nil {
		return argsObject{}, usagef("cannot read --args: %w", err)
	}
	return o, nil
}

// set gives an argument a value written as text.
func (a *arguments) set(name, text string) error {
	s := a.schema.GetProperties()[name]
	if s.GetType() != schemav1.SchemaType_SCHEMA_TYPE_ARRAY {
		if a.typed[name] {
			return usagef("%q is given twice", name)
		}
		a.typed[name] = true
		v, err := typed(name, s, text)
		a.values[name] = v
		return err
	}
	v, err := typed(name, s.GetItems(), text)
	if err != nil {
		return err
	}
	if isList(text) {
		return usagef("%q is a list, and %s looks like all of it: repeat %s=VALUE for each, or use --args '{%q: %s}'", name, text, name, name, text)
	}
	if !a.typed[name] {
		a.values[name] = structpb.NewListValue(&structpb.ListValue{})
	}
	a.typed[name] = true
	list := a.values[name].GetListValue()
	list.Values = append(list.Values, v)
	return nil
}

// isList reports whether somebody wrote a whole list as JSON. A value that only begins with a bracket is a value.
func isList(text string) bool {
	var list []any
	return strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &list) == nil
}

// typed reads a value as its schema says. Text that is not of the type stays text: the kernel's check then
// says which type it has to be.
func typed(name string, s *schemav1.Schema, text string) (*structpb.Value, error) {
	switch s.GetType() {
	case schemav1.SchemaType_SCHEMA_TYPE_NUMBER:
		if n, ok, err := schema.ParseNumber(text); ok {
			if err != nil {
				return nil, usagef("%q: %w", name, err)
			}
			return structpb.NewNumberValue(n), nil
		}
	case schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN:
		if text == "true" || text == "false" {
			return structpb.NewBoolValue(text == "true"), nil
		}
	case schemav1.SchemaType_SCHEMA_TYPE_OBJECT, schemav1.SchemaType_SCHEMA_TYPE_ARRAY:
		return nil, usagef("%q holds %ss, which NAME=VALUE cannot express: give it through --args '{%q: …}'", name, schema.TypeName(s), name)
	}
	return structpb.NewStringValue(text), nil
}

// place gives a word without a name to the first required argument that has no value yet, else to the optional one
// that can hold it, if there is only one: to guess could be to do something else.
func (a *arguments) place(word string) error {
	for _, name := range a.schema.GetRequired() {
		if _, given := a.values[name]; !given {
			return a.set(name, word)
		}
	}
	switch fit := a.holders(word); len(fit) {
	case 0:
		return usagef("there is no argument left for %q%s", word, a.names())
	case 1:
		return a.set(fit[0], word)
	default:
		return usagef("%q could be %s: write %s=%s or the like", word, strings.Join(fit, " or "), fit[0], word)
	}
}

// holders are the optional arguments without a value that can hold a word.
func (a *arguments) holders(word string) []string {
	var fit []string
	for _, name := range slices.Sorted(maps.Keys(a.schema.GetProperties())) {
		s := a.schema.GetProperties()[name]
		if _, given := a.values[name]; given {
			continue
		}
		if v, err := typed(name, s, word); err == nil && len(schema.Validate(s, v)) == 0 {
			fit = append(fit, name)
		}
	}
	return fit
}

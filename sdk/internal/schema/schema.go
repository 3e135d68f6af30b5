// Package schema derives the wire's schema from Go structs and moves values between the two. One reading of
// a struct type serves the schema a caller sees, the decoding of arguments and the encoding of results. A schema that
// comes from elsewhere is read by [Parse] and checks the same way.
package schema

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	"github.com/agentco/agent/sdk/internal/tags"
)

// Type is a Go type read once: its schema, and how to decode and encode its values.
type Type struct {
	Schema *schemav1.Schema
	node   *node // nil when everything fits
	raw    bool  // made by Parse: its values are messages
}

// node is one type, with everything that decoding and encoding need of it.
type node struct {
	kind      schemav1.SchemaType
	pointer   bool
	integer   bool
	text      bool // a string on the wire, made and read by the methods of package encoding
	free      bool // an object that takes whatever comes
	enum      []string
	minimum   *float64
	maximum   *float64
	items     *node
	fields    []field
	backwards []*field // the same by their names, the last first
	byName    map[string]*field
	required  []string
}

// field is one member of a struct.
type field struct {
	name     string
	doc      string
	index    []int
	optional bool
	fallback *structpb.Value // what its default tag says; nil without one
	plain    string          // the default tag itself
	node     *node
}

// Of reads T, which must be a struct. It fails on what the subset cannot say (maps other than map[string]any,
// interfaces, functions, recursive types), on what would not be what its author meant (bytes, durations), and on tags
// that do not parse. These are faults of the program, found when a provider is built.
func Of(t reflect.Type) (*Type, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is not a struct", t)
	}
	if isText(t) {
		return nil, fmt.Errorf("%s is a text and no object; a struct that embeds one takes its methods", t)
	}
	n, err := read(t, nil)
	if err != nil {
		return nil, err
	}
	return &Type{Schema: n.schema(""), node: n}, nil
}

// Defaulted names a member that has a default, or nothing. A result has none: of a zero it would make the default.
func (t *Type) Defaulted() string { return t.node.defaulted("") }

func (n *node) defaulted(path string) string {
	if n.items != nil {
		return n.items.defaulted(path + "[]")
	}
	for i := range n.fields {
		f := &n.fields[i]
		if f.fallback != nil {
			return join(path, f.name)
		}
		if inner := f.node.defaulted(join(path, f.name)); inner != "" {
			return inner
		}
	}
	return ""
}

// read turns a Go type into a node. seen holds the structs it is inside of.
func read(t reflect.Type, seen []reflect.Type) (*node, error) {
	n := &node{}
	if t.Kind() == reflect.Pointer {
		n.pointer, t = true, t.Elem()
	}
	if isText(t) {
		n.kind, n.text = schemav1.SchemaType_SCHEMA_TYPE_STRING, true
		return n, nil
	}
	switch t.Kind() {
	case reflect.String:
		if t == reflect.TypeFor[json.Number]() {
			return nil, fmt.Errorf("%s would be a string: use a float64, or a string", t)
		}
		n.kind = schemav1.SchemaType_SCHEMA_TYPE_STRING
	case reflect.Bool:
		n.kind = schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN
	case reflect.Float64, reflect.Float32:
		n.kind = schemav1.SchemaType_SCHEMA_TYPE_NUMBER
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if t == reflect.TypeFor[time.Duration]() {
			return nil, fmt.Errorf("%s would be a number of nanoseconds: use an int with its unit in the name, such as timeout_ms", t)
		}
		n.kind, n.integer = schemav1.SchemaType_SCHEMA_TYPE_NUMBER, true
	case reflect.Slice:
		return n, n.readList(t, seen)
	case reflect.Map:
		if t != reflect.TypeFor[map[string]any]() {
			return nil, unfit(t)
		}
		n.kind, n.free = schemav1.SchemaType_SCHEMA_TYPE_OBJECT, true
	case reflect.Struct:
		n.kind = schemav1.SchemaType_SCHEMA_TYPE_OBJECT
		for _, s := range seen {
			if s == t {
				return nil, fmt.Errorf("%s holds itself; the schema subset has no recursion", t)
			}
		}
		return n, n.readFields(t, append(seen[:len(seen):len(seen)], t))
	default:
		return nil, unfit(t)
	}
	return n, nil
}

func unfit(t reflect.Type) error {
	return fmt.Errorf("%s cannot be described: use strings, numbers, booleans, slices, structs, text types and map[string]any", t)
}

// isText reports whether t writes and reads itself as text, like time.Time.
func isText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextMarshaler]()) &&
		reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func (n *node) readList(t reflect.Type, seen []reflect.Type) (err error) {
	if t.Elem().Kind() == reflect.Uint8 {
		return fmt.Errorf("%s would be a list of numbers: use a string", t)
	}
	n.kind = schemav1.SchemaType_SCHEMA_TYPE_ARRAY
	if n.items, err = read(t.Elem(), seen); err != nil {
		return fmt.Errorf("elements: %w", err)
	}
	return nil
}

func (n *node) readFields(t reflect.Type, seen []reflect.Type) error {
	n.byName = map[string]*field{}
	var own [][]int // embedded structs that are not opened: what is in them is theirs
	silent := false
	for _, sf := range reflect.VisibleFields(t) {
		if slices.ContainsFunc(own, func(outer []int) bool {
			return len(sf.Index) > len(outer) && slices.Equal(sf.Index[:len(outer)], outer)
		}) {
			continue
		}
		name, optional, err := readTag(t, sf)
		switch {
		case err != nil:
			return err
		case sf.Anonymous && name == "":
			continue // its fields follow
		case name == "" || name == "-":
			silent = true
			own = append(own, sf.Index)
			continue
		case sf.Anonymous:
			own = append(own, sf.Index)
		}
		f, err := readField(sf, seen)
		if err != nil {
			return fmt.Errorf("field %s.%s: %w", t, sf.Name, err)
		}
		f.name, f.optional = name, f.optional || optional
		if n.byName[name] != nil {
			return fmt.Errorf("two fields of %s are named %q", t, name)
		}
		n.fields = append(n.fields, *f)
		n.byName[name] = f
		if !f.optional {
			n.required = append(n.required, name)
		}
	}
	if silent && len(n.fields) == 0 {
		return fmt.Errorf("%s has no field that would be seen", t)
	}
	n.backwards = backwards(n.fields)
	return nil
}

// memberName is a name that a person can give on a command line.
var memberName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL\p{Nd}_][\pL\p{Nd}_-]*$`) })

// mistaken are keys that other libraries have for what is said in another way here, or that mean something elsewhere alone.
var mistaken = map[string]string{
	"required":    "a field is required unless its json tag says omitempty, it has a default, or it is a pointer",
	"optional":    "a field is optional when its json tag says omitempty, it has a default, or it is a pointer",
	"description": "the key is doc",
	"sensitive":   "arguments and results are shown and kept; only an attribute of the provider block can be sensitive",
}

// readTag gives the name of a field: "-" or nothing for one that takes no part, and nothing for an embedded struct whose
// fields are the outer struct's. What encoding/json would read in another way than this package is an error.
func readTag(t reflect.Type, sf reflect.StructField) (name string, optional bool, err error) {
	tag, tagged := sf.Tag.Lookup("json")
	fault := tags.Fault(sf.Tag, mistaken)
	name, options, _ := strings.Cut(tag, ",")
	switch {
	case tag == "-":
		return name, false, nil
	case sf.Anonymous && sf.Type.Kind() == reflect.Pointer:
		return "", false, fmt.Errorf("field %s.%s: embed the struct, not a pointer to it", t, sf.Name)
	case sf.Anonymous && name == "" && sf.Type.Kind() == reflect.Struct && !isText(sf.Type):
		return "", false, nil
	case !sf.IsExported() && tagged:
		return "", false, fmt.Errorf("field %s.%s has a json tag but is not exported", t, sf.Name)
	case !sf.IsExported():
		return "", false, nil
	case fault != "":
		return "", false, fmt.Errorf("field %s.%s: %s", t, sf.Name, fault)
	case name == "":
		return "", false, fmt.Errorf("field %s.%s has no json tag to take its name from", t, sf.Name)
	}
	if !memberName().MatchString(name) {
		return "", false, fmt.Errorf("field %s.%s: the json name %q cannot be written as NAME=VALUE on a command line: use letters, digits, _ and -, the last not in front", t, sf.Name, name)
	}
	for option := range strings.SplitSeq(options, ",") {
		if option != "" && option != "omitempty" && option != "omitzero" {
			return "", false, fmt.Errorf("field %s.%s: the json tag may say omitempty or omitzero, not %q", t, sf.Name, option)
		}
		optional = optional || option != ""
	}
	return name, optional, nil
}

func readField(sf reflect.StructField, seen []reflect.Type) (*field, error) {
	n, err := read(sf.Type, seen)
	if err != nil {
		return nil, err
	}
	f := &field{doc: sf.Tag.Get("doc"), index: sf.Index, node: n, optional: n.pointer}
	if enum, ok := sf.Tag.Lookup("enum"); ok {
		if n.kind != schemav1.SchemaType_SCHEMA_TYPE_STRING || n.text {
			return nil, fmt.Errorf("an enum tag needs a string")
		}
		n.enum = strings.Split(enum, ",")
		if slices.ContainsFunc(n.enum, func(value string) bool { return strings.TrimSpace(value) != value }) {
			return nil, fmt.Errorf("enum tag %q: the values have commas between them and no spaces", enum)
		}
		if distinct := slices.Compact(slices.Sorted(slices.Values(n.enum))); enum == "" || len(distinct) < len(n.enum) {
			return nil, fmt.Errorf("enum tag %q: it has no value, or one twice", enum)
		}
	}
	if n.minimum, err = n.bound(sf, "min"); err != nil {
		return nil, err
	}
	if n.maximum, err = n.bound(sf, "max"); err != nil {
		return nil, err
	}
	if n.minimum != nil && n.maximum != nil && *n.minimum > *n.maximum {
		return nil, fmt.Errorf("no number is at least %g and at most %g", *n.minimum, *n.maximum)
	}
	return f, f.readDefault(sf)
}

// readDefault parses the default tag: the plain text for a string, JSON for everything else. It must itself fit.
func (f *field) readDefault(sf reflect.StructField) error {
	text, ok := sf.Tag.Lookup("default")
	if !ok {
		return nil
	}
	f.fallback, f.plain, f.optional = structpb.NewStringValue(text), text, true
	if f.node.kind != schemav1.SchemaType_SCHEMA_TYPE_STRING {
		f.fallback = &structpb.Value{}
		if err := protojson.Unmarshal([]byte(text), f.fallback); err != nil {
			return fmt.Errorf("default tag %s is not JSON, as a default is for everything but a string", text)
		}
	}
	err := f.node.decode(f.fallback, reflect.New(sf.Type).Elem(), "it")
	var unfit *ArgumentError
	switch {
	case errors.As(err, &unfit):
		return fmt.Errorf("default tag %s does not fit: it %s", text, unfit.Problem)
	case err != nil:
		return fmt.Errorf("default tag %s does not fit: %w", text, err)
	}
	return nil
}

func (n *node) bound(sf reflect.StructField, tag string) (*float64, error) {
	text, ok := sf.Tag.Lookup(tag)
	if !ok {
		return nil, nil
	}
	if n.kind != schemav1.SchemaType_SCHEMA_TYPE_NUMBER {
		return nil, fmt.Errorf("a %s tag needs a number", tag)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) {
		return nil, fmt.Errorf("%s tag %q is not a number", tag, text)
	}
	return &v, nil
}

// schema builds the wire form of n.
func (n *node) schema(doc string) *schemav1.Schema {
	s := &schemav1.Schema{Type: n.kind, Description: doc, EnumValues: n.enum, Required: n.required}
	if n.items != nil {
		s.Items = n.items.schema("")
	}
	if len(n.fields) > 0 {
		s.Properties = make(map[string]*schemav1.Schema, len(n.fields))
		for i := range n.fields {
			f := &n.fields[i]
			s.Properties[f.name] = f.node.schema(f.describe())
		}
	}
	return s
}

// describe is the field's doc with what the subset has no words for: the default and the bounds.
func (f *field) describe() string {
	var notes []string
	if f.plain != "" {
		notes = append(notes, "default "+f.plain)
	}
	switch lo, hi := f.node.minimum, f.node.maximum; {
	case lo != nil && hi != nil:
		notes = append(notes, fmt.Sprintf("from %g to %g", *lo, *hi))
	case lo != nil:
		notes = append(notes, fmt.Sprintf("at least %g", *lo))
	case hi != nil:
		notes = append(notes, fmt.Sprintf("at most %g", *hi))
	}
	if len(notes) == 0 {
		return f.doc
	}
	return strings.TrimSpace(f.doc + " (" + strings.Join(notes, "; ") + ")")
}

// Package config derives a provider's config schema from a Go struct and decodes the kernel's answer into it.
package config

import (
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"sync"

	"google.golang.org/protobuf/types/known/structpb"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	"github.com/agentco/agent/sdk/internal/tags"
)

// Type is a config struct read once. Fields take part when they have an hcl tag; the rest is the provider's own.
type Type struct {
	Schema     *configv1.ConfigSchema
	attributes []attribute
}

// attribute is one field of a config struct.
type attribute struct {
	spec     *configv1.ConfigAttribute
	index    []int
	form     *form
	fallback *structpb.Value // what its default tag says; nil without one
	secret   bool            // it is sensitive, or inside what is
}

// identifier is what HCL takes as the name of an attribute.
var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\p{L}_][\p{L}\p{Nd}_-]*$`) })

// FieldError says which attribute does not fit, and why.
type FieldError struct {
	// Attribute is the path to the value, for example "proxy.url".
	Attribute string
	// Problem completes the sentence "X …", for example "is required".
	Problem string
}

func (e *FieldError) Error() string { return e.Attribute + " " + e.Problem }

// Of reads T, which must be a struct. It fails on types the protocol has no attribute for and on tags that
// contradict each other: faults of the program, found when a provider is built.
func Of(t reflect.Type, texts Texts) (*Type, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("config %s is not a struct", t)
	}
	attributes, err := reader{texts: texts}.attributes(t)
	if err != nil {
		return nil, fmt.Errorf("config %s: %w", t, err)
	}
	return &Type{Schema: &configv1.ConfigSchema{Attributes: specs(attributes)}, attributes: attributes}, nil
}

func specs(attributes []attribute) []*configv1.ConfigAttribute {
	out := make([]*configv1.ConfigAttribute, len(attributes))
	for i := range attributes {
		out[i] = attributes[i].spec
	}
	return out
}

// mistaken are keys that other libraries have for what is said in another way here.
var mistaken = map[string]string{
	"required":    "an attribute is required unless its hcl tag says optional, it has a default, or it is a pointer",
	"optional":    "write it into the hcl tag, behind the name and a comma",
	"description": "the key is doc",
	"enum":        "only arguments and results have one; check it in Setup",
	"min":         "only arguments have one; check it in Setup",
	"max":         "only arguments have one; check it in Setup",
}

// unattributed are keys of an attribute, on a field that is the provider's own since it has no hcl tag.
var unattributed = map[string]string{
	"doc":       "only a field with an hcl tag is an attribute",
	"default":   "only a field with an hcl tag is an attribute",
	"sensitive": "only a field with an hcl tag is an attribute",
}

// reader reads the structs of one config.
type reader struct {
	texts  Texts
	secret bool // inside a sensitive object
	inside []reflect.Type
}

func (r reader) attributes(t reflect.Type) ([]attribute, error) {
	for _, outer := range r.inside {
		if outer == t {
			return nil, fmt.Errorf("%s holds itself; the protocol has no recursion", t)
		}
	}
	r.inside = append(r.inside[:len(r.inside):len(r.inside)], t)
	var out []attribute
	names := map[string]bool{}
	for _, sf := range reflect.VisibleFields(t) {
		tag, tagged := sf.Tag.Lookup("hcl")
		if fault := misunderstood(sf, tagged); fault != "" && tag != "-" {
			return nil, fmt.Errorf("field %s: %s", sf.Name, fault)
		}
		if !tagged || tag == "-" {
			continue
		}
		if !sf.IsExported() {
			return nil, fmt.Errorf("field %s has an hcl tag but is not exported", sf.Name)
		}
		if throughPointer(t, sf.Index) {
			return nil, fmt.Errorf("field %s: embed the struct, not a pointer to it", sf.Name)
		}
		a, err := r.attribute(sf, tag)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", sf.Name, err)
		}
		if names[a.spec.GetName()] {
			return nil, fmt.Errorf("two fields are named %q", a.spec.GetName())
		}
		names[a.spec.GetName()] = true
		out = append(out, a)
	}
	return out, nil
}

// misunderstood says what is wrong with the tags of a field. What is promoted and no attribute may be of any package.
func misunderstood(sf reflect.StructField, attribute bool) string {
	switch {
	case attribute:
		return tags.Fault(sf.Tag, mistaken)
	case len(sf.Index) == 1:
		return tags.Fault(sf.Tag, unattributed)
	}
	return ""
}

// throughPointer reports whether a promoted field belongs to an embedded pointer, which may be nil.
func throughPointer(t reflect.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		if t = t.Field(i).Type; t.Kind() == reflect.Pointer {
			return true
		}
	}
	return false
}

func (r reader) attribute(sf reflect.StructField, tag string) (attribute, error) {
	name, options, _ := strings.Cut(tag, ",")
	a := attribute{index: sf.Index, spec: &configv1.ConfigAttribute{
		Name:        name,
		Description: sf.Tag.Get("doc"),
		Required:    options != "optional" && sf.Type.Kind() != reflect.Pointer,
		Sensitive:   sf.Tag.Get("sensitive") == "true",
	}}
	if options != "" && options != "optional" || !identifier().MatchString(name) {
		return a, fmt.Errorf("hcl tag %q is neither \"name\" nor \"name,optional\", with a name that can be written in agent.hcl", tag)
	}
	// Whoever writes anything else means to hide the value, and it would be shown.
	if text, ok := sf.Tag.Lookup("sensitive"); ok && text != "true" && text != "false" {
		return a, fmt.Errorf("sensitive tag %q is neither true nor false", text)
	}
	a.secret = r.secret || a.spec.GetSensitive()
	r.secret = a.secret
	var err error
	if a.form, err = r.form(sf.Type); err != nil {
		return a, err
	}
	a.spec.Type = a.form.wire
	switch a.spec.GetType() {
	case configv1.AttrType_ATTR_TYPE_OBJECT:
		a.spec.ObjectAttributes = specs(a.form.object)
	case configv1.AttrType_ATTR_TYPE_NUMBER, configv1.AttrType_ATTR_TYPE_LIST_NUMBER, configv1.AttrType_ATTR_TYPE_BOOL:
		if a.spec.GetSensitive() {
			return a, fmt.Errorf("a sensitive attribute holds text: a number or truth value cannot be told from any other where it must not appear")
		}
	}
	return a, a.readDefault(sf)
}

// Decode fills the struct that into points to; relative paths are taken from dir. The error is a *FieldError, and
// the value of a sensitive attribute is never in it. What was opened on the way is for the caller to close; after an
// error it is closed already.
func (t *Type) Decode(s *structpb.Struct, into any, dir string) ([]io.Closer, error) {
	d := decoder{dir: dir}
	if err := d.object(t.attributes, s, reflect.ValueOf(into).Elem(), ""); err != nil {
		for _, opened := range d.opened {
			_ = opened.Close()
		}
		return nil, err
	}
	return d.opened, nil
}

package conformance

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// eachAttribute looks at every attribute of every config schema, with the way to it and its siblings' names before it.
func eachAttribute(look func(t *tally, path string, a *configv1.ConfigAttribute, before []string)) check {
	return func(s *subject) finding {
		var t tally
		for _, offered := range s.discovery().surfaces {
			walkAttributes(&t, "", offered.config.GetAttributes(), look)
		}
		return t.of("attributes")
	}
}

func walkAttributes(t *tally, prefix string, attributes []*configv1.ConfigAttribute, look func(*tally, string, *configv1.ConfigAttribute, []string)) {
	var before []string
	for _, a := range attributes {
		t.count++
		path := prefix + a.GetName()
		look(t, path, a, before)
		before = append(before, a.GetName())
		walkAttributes(t, path+".", a.GetObjectAttributes(), look)
	}
}

func configTypes(t *tally, path string, a *configv1.ConfigAttribute, before []string) {
	switch {
	case a.GetName() == "":
		t.add("an attribute has no name")
	case slices.Contains(before, a.GetName()):
		t.add("%s is there twice", path)
	case a.GetType() < configv1.AttrType_ATTR_TYPE_STRING || a.GetType() > configv1.AttrType_ATTR_TYPE_OBJECT:
		t.add("%s has the type %s", path, a.GetType())
	}
}

func configObject(t *tally, path string, a *configv1.ConfigAttribute, _ []string) {
	object := a.GetType() == configv1.AttrType_ATTR_TYPE_OBJECT
	switch given := len(a.GetObjectAttributes()) > 0; {
	case object && !given:
		t.add("%s is an object without attributes", path)
	case !object && given:
		t.add("%s is no object and has attributes", path)
	}
}

func configDefault(t *tally, path string, a *configv1.ConfigAttribute, _ []string) {
	if a.DefaultJson == nil {
		return
	}
	v := &structpb.Value{}
	switch {
	case !json.Valid([]byte(a.GetDefaultJson())) || protojson.Unmarshal([]byte(a.GetDefaultJson()), v) != nil:
		t.add("the default of %s is no JSON: %s", path, quote(a.GetDefaultJson()))
	case !fitsAttribute(a, v):
		t.add("the default of %s is %s", path, quote(a.GetDefaultJson()))
	}
}

func fitsAttribute(a *configv1.ConfigAttribute, v *structpb.Value) bool {
	_, text := v.GetKind().(*structpb.Value_StringValue)
	_, number := v.GetKind().(*structpb.Value_NumberValue)
	_, boolean := v.GetKind().(*structpb.Value_BoolValue)
	element := &configv1.ConfigAttribute{Type: configv1.AttrType_ATTR_TYPE_STRING}
	switch a.GetType() {
	case configv1.AttrType_ATTR_TYPE_STRING:
		return text
	case configv1.AttrType_ATTR_TYPE_NUMBER:
		return number
	case configv1.AttrType_ATTR_TYPE_BOOL:
		return boolean
	case configv1.AttrType_ATTR_TYPE_LIST_NUMBER:
		element.Type = configv1.AttrType_ATTR_TYPE_NUMBER
		fallthrough
	case configv1.AttrType_ATTR_TYPE_LIST_STRING:
		return v.GetListValue() != nil && !slices.ContainsFunc(v.GetListValue().GetValues(), func(item *structpb.Value) bool { return !fitsAttribute(element, item) })
	case configv1.AttrType_ATTR_TYPE_MAP_STRING:
		for _, field := range v.GetStructValue().GetFields() {
			if !fitsAttribute(element, field) {
				return false
			}
		}
		return v.GetStructValue() != nil
	case configv1.AttrType_ATTR_TYPE_OBJECT:
		return v.GetStructValue() != nil && fitsObject(a, v.GetStructValue())
	default:
		return true // its type is another rule's affair
	}
}

func fitsObject(a *configv1.ConfigAttribute, v *structpb.Struct) bool {
	for name, field := range v.GetFields() {
		i := slices.IndexFunc(a.GetObjectAttributes(), func(m *configv1.ConfigAttribute) bool { return m.GetName() == name })
		if i < 0 || !fitsAttribute(a.GetObjectAttributes()[i], field) {
			return false
		}
	}
	return true
}

func configSensitive(t *tally, path string, a *configv1.ConfigAttribute, _ []string) {
	if a.GetSensitive() && a.DefaultJson != nil {
		t.add("%s is sensitive and has a default", path)
	}
}

func configureAccepts(s *subject) finding {
	// Each life counts: one that is configured once is no provider.
	for _, err := range []error{s.session().err, s.crowd().err, s.cancels().err} {
		if err != nil {
			return broken("%v", err)
		}
	}
	if len(s.discovery().surfaces) == 0 {
		return skipped("it serves no category")
	}
	return seen("the block is taken")
}

// configureRefuses looks at what became of blocks with one kind of fault.
func configureRefuses(fault string) check {
	return func(s *subject) finding {
		var t tally
		for _, r := range s.refusals() {
			if r.fault != fault {
				continue
			}
			t.count++
			switch details := errorsIn(r.err); {
			case r.err == nil:
				t.add("a block with %s %s is taken", faultName(fault), r.attribute)
			case len(details) == 0:
				if !strings.Contains(status.Convert(r.err).Message(), r.attribute) {
					t.add("the refusal of %s %s does not name it: %v", faultName(fault), r.attribute, r.err)
				}
			case !names(details[0], r.attribute):
				t.add("the refusal of %s %s does not name it: %s", faultName(fault), r.attribute, quote(details[0].GetMessage()))
			case details[0].GetCategory() != toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS:
				t.add("the refusal of %s %s is %s, not invalid_arguments", faultName(fault), r.attribute, errorName(details[0]))
			}
		}
		return t.of("blocks with " + faultName(fault) + " attribute, each refused")
	}
}

func faultName(fault string) string {
	switch fault {
	case "missing":
		return "a missing"
	case "type":
		return "a mistyped"
	default:
		return "an unknown"
	}
}

// names reports whether an error says which attribute is wrong.
func names(e *toolv1.ToolError, attribute string) bool {
	return strings.Contains(e.GetMessage(), attribute) || strings.Contains(protojson.Format(e.GetDetails()), attribute)
}

// errorsIn are the ToolErrors in the details of a status.
func errorsIn(err error) (out []*toolv1.ToolError) {
	for _, detail := range status.Convert(err).Details() {
		if e, ok := detail.(*toolv1.ToolError); ok {
			out = append(out, e)
		}
	}
	return out
}

func secretEcho(s *subject) finding {
	// Everything the provider says in any of its lives counts.
	s.refusals()
	s.session()
	s.cancels()
	s.crowd()
	s.unheard()
	s.wire.mu.Lock()
	defer s.wire.mu.Unlock()
	if len(s.wire.secrets) == 0 {
		return skipped("no attribute is sensitive")
	}
	var t tally
	t.count = len(s.wire.secrets)
	for _, where := range slices.Sorted(maps.Keys(s.wire.leaks)) {
		t.add("one came back in %s", where)
	}
	return t.of("secrets, none of them echoed")
}

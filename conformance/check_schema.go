package conformance

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// semantic is a version as semver.org writes it, without v.
var semantic = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

// eachOperation looks at every operation.
func eachOperation(look func(*tally, operation)) check {
	return func(s *subject) finding {
		var t tally
		for _, op := range s.discovery().operations() {
			t.count++
			look(&t, op)
		}
		return t.of("operations")
	}
}

// eachSchema looks at every node of every schema, with the way to it.
func eachSchema(look func(t *tally, path string, node *schemav1.Schema)) check {
	return func(s *subject) finding {
		var t tally
		for _, op := range s.discovery().operations() {
			walkSchema(&t, op.String()+" arguments", op.GetInputSchema(), look)
			walkSchema(&t, op.String()+" payload", op.GetOutputSchema(), look)
		}
		return t.of("nodes of schemas")
	}
}

func walkSchema(t *tally, path string, node *schemav1.Schema, look func(*tally, string, *schemav1.Schema)) {
	if node == nil {
		return
	}
	t.count++
	look(t, path, node)
	for _, name := range slices.Sorted(maps.Keys(node.GetProperties())) {
		walkSchema(t, path+"."+name, node.GetProperties()[name], look)
	}
	walkSchema(t, path+"[]", node.GetItems(), look)
}

func schemaNames(s *subject) finding {
	var t tally
	for _, offered := range s.discovery().surfaces {
		known := map[string]bool{}
		name := func(kind, name string) {
			t.count++
			switch {
			case name == "":
				t.add("a %s has no name", kind)
			case strings.Contains(name, "/"):
				t.add("the %s %s has a slash", kind, quote(name))
			case known[kind+" "+name]:
				t.add("the %s %s is there twice", kind, quote(name))
			}
			known[kind+" "+name] = true
		}
		for _, op := range offered.operations {
			name(categoryName(offered.category), op.GetName())
		}
		for _, prompt := range offered.prompts {
			name("prompt", prompt.GetName())
		}
	}
	return t.of("names")
}

func schemaDescription(t *tally, op operation) {
	if strings.TrimSpace(op.GetDescription()) == "" {
		t.add("%s has none", op)
	}
}

func schemaObject(t *tally, op operation) {
	const object = schemav1.SchemaType_SCHEMA_TYPE_OBJECT
	switch {
	case op.GetInputSchema() == nil:
		t.add("%s has no input schema", op)
	case op.GetInputSchema().GetType() != object:
		t.add("the arguments of %s are %s", op, typeName(op.GetInputSchema()))
	}
	if op.GetOutputSchema() != nil && op.GetOutputSchema().GetType() != object {
		t.add("the payload of %s is %s", op, typeName(op.GetOutputSchema()))
	}
}

func typeName(s *schemav1.Schema) string {
	return strings.ToLower(strings.TrimPrefix(s.GetType().String(), "SCHEMA_TYPE_"))
}

func schemaSubset(t *tally, path string, node *schemav1.Schema) {
	kind := node.GetType()
	if kind < schemav1.SchemaType_SCHEMA_TYPE_OBJECT || kind > schemav1.SchemaType_SCHEMA_TYPE_ARRAY {
		t.add("%s has the type %s", path, typeName(node))
		return
	}
	if len(node.GetProperties()) > 0 && kind != schemav1.SchemaType_SCHEMA_TYPE_OBJECT {
		t.add("%s is %s and has properties", path, typeName(node))
	}
	if hasItems := node.GetItems() != nil; hasItems && kind != schemav1.SchemaType_SCHEMA_TYPE_ARRAY {
		t.add("%s is %s and has items", path, typeName(node))
	}
}

func schemaEnum(t *tally, path string, node *schemav1.Schema) {
	values := node.GetEnumValues()
	if len(values) > 0 && node.GetType() != schemav1.SchemaType_SCHEMA_TYPE_STRING {
		t.add("%s is %s and has enum values", path, typeName(node))
	}
	if sorted := slices.Sorted(slices.Values(values)); len(slices.Compact(sorted)) < len(values) {
		t.add("%s has an enum value twice", path)
	}
}

func schemaRequired(t *tally, path string, node *schemav1.Schema) {
	for _, name := range node.GetRequired() {
		if node.GetProperties()[name] == nil {
			t.add("%s requires %s, which is no property", path, quote(name))
		}
	}
}

func schemaTimeout(s *subject) finding {
	var t tally
	for _, op := range s.discovery().operations() {
		if op.DefaultTimeout == nil {
			continue
		}
		t.count++
		if d := op.GetDefaultTimeout(); d.CheckValid() != nil || d.AsDuration() <= 0 {
			t.add("that of %s is %s", op, d.AsDuration())
		}
	}
	return t.of("default timeouts")
}

func kindDeclared(t *tally, op operation) {
	if op.GetKind() < toolv1.ToolKind_TOOL_KIND_RESOURCE || op.GetKind() > toolv1.ToolKind_TOOL_KIND_INTERACTIVE {
		t.add("the kind of %s is %s", op, op.GetKind())
	}
}

func kindRisk(t *tally, op operation) {
	risk := strings.ToLower(strings.TrimPrefix(op.GetRisk().String(), "RISK_CLASS_"))
	switch reading := op.GetRisk() == toolv1.RiskClass_RISK_CLASS_READ_ONLY; {
	case op.GetRisk() < toolv1.RiskClass_RISK_CLASS_READ_ONLY || op.GetRisk() > toolv1.RiskClass_RISK_CLASS_CRITICAL:
		t.add("the risk of %s is %s", op, risk)
	case op.GetKind() == toolv1.ToolKind_TOOL_KIND_RESOURCE && reading:
		t.add("the resource %s is read-only", op)
	case op.GetKind() == toolv1.ToolKind_TOOL_KIND_DATA_SOURCE && !reading, op.GetKind() == toolv1.ToolKind_TOOL_KIND_INTERACTIVE && !reading:
		t.add("%s only reads or asks, and its risk is %s", op, risk)
	}
}

func hooksValid(s *subject) finding {
	var t tally
	for _, offered := range s.discovery().surfaces {
		for i, hook := range offered.hooks {
			t.count++
			switch {
			case hook < commonv1.HookPoint_HOOK_POINT_SESSION_START || hook > commonv1.HookPoint_HOOK_POINT_SESSION_END:
				t.add("one is %s", hook)
			case slices.Contains(offered.hooks[:i], hook):
				t.add("%s is there twice", hook)
			}
		}
	}
	return t.of("hook points")
}

func concurrencyKeyFields(s *subject) finding {
	var t tally
	for _, op := range s.discovery().operations() {
		for _, field := range op.GetConcurrency().GetKeyFields() {
			t.count++
			if op.GetInputSchema().GetProperties()[field] == nil {
				t.add("the key field %s of %s is no argument", quote(field), op)
			}
		}
	}
	return t.of("key fields")
}

func concurrencyInteractive(s *subject) finding {
	var t tally
	for _, op := range s.discovery().operations() {
		if op.GetKind() != toolv1.ToolKind_TOOL_KIND_INTERACTIVE {
			continue
		}
		t.count++
		if op.GetConcurrency().GetSafe() {
			t.add("%s is", op)
		}
	}
	return t.of("interactive operations")
}

package scenario

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/types/known/structpb"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
)

// Calls refuses a scenario that calls operations which are not among those of the provider: each is most likely a slip.
func (s *Scenario) Calls(operations []string) error {
	var all []error
	for _, c := range s.file.Calls {
		if !slices.Contains(operations, c.Operation) {
			all = append(all, unknown(c.Range, "operation", c.Operation, operations))
		}
	}
	return errors.Join(all...)
}

// Configures refuses a configuration with attributes that are not in the provider's schema.
func (s *Scenario) Configures(schema []*configv1.ConfigAttribute) error {
	situation, err := s.In("/workdir")
	if err != nil {
		return err
	}
	var all []error
	for _, name := range slices.SortedFunc(maps.Keys(s.config), func(a, b string) int {
		return s.config[a].NameRange.Start.Byte - s.config[b].NameRange.Start.Byte
	}) {
		one := &structpb.Struct{Fields: map[string]*structpb.Value{name: situation.Config.GetFields()[name]}}
		all = append(all, attributesFit(s.config[name].NameRange, one, schema)...)
	}
	return errors.Join(all...)
}

func attributesFit(at hcl.Range, block *structpb.Struct, schema []*configv1.ConfigAttribute) (all []error) {
	var names []string
	for _, a := range schema {
		names = append(names, a.GetName())
	}
	for _, name := range slices.Sorted(maps.Keys(block.GetFields())) {
		i := slices.Index(names, name)
		if i < 0 {
			all = append(all, unknown(at, "attribute", name, names))
		} else if schema[i].GetType() == configv1.AttrType_ATTR_TYPE_OBJECT {
			all = append(all, attributesFit(at, block.GetFields()[name].GetStructValue(), schema[i].GetObjectAttributes())...)
		}
	}
	return all
}

// resultsExist refuses arguments that refer to calls which are not made before them.
func (d document) resultsExist() error {
	var all []error
	var before []string
	for _, c := range d.Calls {
		var named []hcl.Traversal
		if c.Arguments != nil {
			named = c.Arguments.Variables()
		}
		for _, t := range named {
			if name, ok := resultNamed(t); ok && !slices.Contains(before, name) {
				all = append(all, unknown(t.SourceRange(), "earlier call", name, before))
			}
		}
		if c.CancelAfter == "" {
			before = append(before, c.Name)
		}
	}
	return errors.Join(all...)
}

// resultNamed is the call that results["name"], or results.name, refers to; none when the name is worked out.
func resultNamed(t hcl.Traversal) (string, bool) {
	if t.RootName() != "results" || len(t) < 2 {
		return "", false
	}
	switch step := t[1].(type) {
	case hcl.TraverseAttr:
		return step.Name, true
	case hcl.TraverseIndex:
		if step.Key.Type() == cty.String && step.Key.IsKnown() && !step.Key.IsNull() {
			return step.Key.AsString(), true
		}
	}
	return "", false
}

// unknown says where a name is written that nothing has, what there is, and what may be meant.
func unknown(at hcl.Range, kind, name string, known []string) error {
	const most = 20
	there := "there is none"
	if len(known) > 0 {
		there = "there are " + strings.Join(known[:min(most, len(known))], ", ")
		if more := len(known) - most; more > 0 {
			there += fmt.Sprintf(" and %d more", more)
		}
	}
	text := fmt.Sprintf("%s:%d: no %s %q; %s", at.Filename, at.Start.Line, kind, name, there)
	if meant := nearest(name, known); meant != "" {
		text += "; did you mean " + meant + "?"
	}
	return errors.New(text)
}

// nearest is the name that is most like another, with the provider's name before it or not; empty when none is.
func nearest(name string, known []string) (meant string) {
	bare := strings.ToLower(name[strings.LastIndexAny(name, "./")+1:])
	best := max(2, len(bare)/3) + 1
	for _, candidate := range known {
		if d := levenshtein.Distance(bare, strings.ToLower(candidate), nil); d < best && d < len(bare) {
			best, meant = d, candidate
		}
	}
	return meant
}

package cli

import (
	"encoding/json"
	"fmt"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
)

func (a *app) providersSchema(names []string) error {
	p, err := a.open()
	if err != nil {
		return err
	}
	e, err := a.prepareNamed(p, names)
	if e == nil {
		return err
	}
	defer e.Close()
	if a.flags.json {
		schemas := map[string]json.RawMessage{}
		for _, info := range e.Providers() {
			schemas[info.Name] = protoJSON(info.Config)
		}
		answer := map[string]any{"config_schemas": schemas}
		if err != nil {
			answer["error"] = describe(err)
		}
		a.writeJSON(answer)
		a.silent = true
		return err
	}
	for i, info := range e.Providers() {
		if i > 0 {
			a.printf("\n")
		}
		a.printf("%s\n", a.display.OutPainter().Bold(fmt.Sprintf("provider %q", info.Name)))
		if rows := attributeRows(info.Config.GetAttributes(), ""); len(rows) > 0 {
			a.table([]string{"ARGUMENT", "TYPE", "", "DESCRIPTION"}, rows)
		} else {
			a.printf("It takes no arguments.\n")
		}
	}
	return err
}

// widestDefault is how long a default may be to have a column of its own.
const widestDefault = 40

// attributeTypes are the types in the words that arguments of tools are described with.
var attributeTypes = map[configv1.AttrType]string{
	configv1.AttrType_ATTR_TYPE_STRING:      "string",
	configv1.AttrType_ATTR_TYPE_NUMBER:      "number",
	configv1.AttrType_ATTR_TYPE_BOOL:        "boolean",
	configv1.AttrType_ATTR_TYPE_LIST_STRING: "list of string",
	configv1.AttrType_ATTR_TYPE_LIST_NUMBER: "list of number",
	configv1.AttrType_ATTR_TYPE_MAP_STRING:  "map of string",
	configv1.AttrType_ATTR_TYPE_OBJECT:      "object",
}

func attributeRows(attrs []*configv1.ConfigAttribute, prefix string) [][]string {
	var rows [][]string
	for _, attr := range attrs {
		note, description := "", attr.GetDescription()
		switch {
		case attr.GetSensitive():
			note = "secret"
		case attr.GetRequired():
			note = "required"
		case attr.DefaultJson != nil:
			note = "default " + attr.GetDefaultJson()
			if len(attr.GetDefaultJson()) > widestDefault { // behind the description, which is wrapped
				note, description = "", description+" Default: "+attr.GetDefaultJson()
			}
		}
		rows = append(rows, []string{prefix + attr.GetName(), attributeTypes[attr.GetType()], note, description})
		rows = append(rows, attributeRows(attr.GetObjectAttributes(), prefix+"  ")...)
	}
	return rows
}

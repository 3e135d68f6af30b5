//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
)

// requireFits checks a value against a schema, as a kernel does before it lets a result in.
func requireFits(t *testing.T, schema *schemav1.Schema, value any) {
	t.Helper()
	switch v := value.(type) {
	case fields:
		require.Equal(t, schemav1.SchemaType_SCHEMA_TYPE_OBJECT, schema.GetType())
		for _, name := range schema.GetRequired() {
			require.Contains(t, v, name)
		}
		for name, member := range v {
			require.Contains(t, schema.GetProperties(), name)
			requireFits(t, schema.GetProperties()[name], member)
		}
	case []any:
		require.Equal(t, schemav1.SchemaType_SCHEMA_TYPE_ARRAY, schema.GetType())
		for _, item := range v {
			requireFits(t, schema.GetItems(), item)
		}
	case string:
		require.Equal(t, schemav1.SchemaType_SCHEMA_TYPE_STRING, schema.GetType())
	case float64:
		require.Equal(t, schemav1.SchemaType_SCHEMA_TYPE_NUMBER, schema.GetType())
	case bool:
		require.Equal(t, schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN, schema.GetType())
	default:
		require.Fail(t, "a value of no type of the schema", "%T", value)
	}
}

// Every tool is previewed, called, held to its schema and shown, in the order in which a
// model would use them.
func TestEveryResultFitsItsSchemaAndIsShown(t *testing.T) {
	h := start(t, nil)
	schemas := map[string]*schemav1.Schema{}
	for _, tool := range h.Tools(t.Context()) {
		schemas[tool.GetName()] = tool.GetOutputSchema()
	}
	const slow = `(code\(\): up\n)?` // what a slow machine prints is not there at once
	id := ""
	for _, c := range []struct {
		name, tool string
		arguments  fields
		previewed  string // a line of the preview, with ID for the id
		shown      string // a pattern for all that is shown
	}{
		{"nothing there", "process_list", fields{}, "list the processes in the background", "no process in the background"},
		{"foreground", "bash", fields{"command": "echo hi"}, "code(sh): echo hi", `code\(\): hi\ndone in .*`},
		{"moved", "bash", fields{"command": "echo up; sleep 1000", "timeout_ms": 300, "on_timeout": "background"},
			"in " + h.Dir + ", for 300ms, and then on in the background", slow + `running in the background as bg-\w+ after .*; it ends with this session of agent`},
		{"background", "bash", fields{"command": "echo up; read x; exit 3", "background": true},
			"in " + h.Dir + ", in the background, without a limit", slow + `running in the background as bg-\w+ after .*; it ends with this session of agent`},
		{"list", "process_list", fields{}, "list the processes in the background",
			`id \| state \| time \| command\nbg-\w+ \| running \| \d+s \| echo up; sleep 1000\nbg-\w+ \| running \| \d+s \| echo up; read x; exit 3`},
		{"output", "process_output", fields{"id": "ID", "wait_ms": 60_000}, "code(sh): echo up; read x; exit 3", `code\(\): up\nID: running, bytes 0 to 3 of 3`},
		{"input", "process_input", fields{"id": "ID", "data": "x\x03\n"}, `code(): "x\x03\n"`, `ID: 3 bytes typed`},
		{"end", "process_output", fields{"id": "ID", "offset": 3, "wait_ms": 60_000}, "code(sh): echo up; read x; exit 3", `ID: killed by SIGINT, bytes 3 to 3 of 3`},
		{"another", "bash", fields{"command": "sleep 1000", "background": true, "timeout_ms": 60_000, "description": "Sleep"},
			"in " + h.Dir + ", in the background, for at most 1m0s", `running in the background as ID after .*`},
		{"signal", "process_signal", fields{"id": "ID"}, "send SIGTERM to ID, which runs", `ID: SIGTERM sent; (running|stopped by SIGTERM)`},
		{"signalled", "process_output", fields{"id": "ID", "wait_ms": 60_000}, "code(sh): sleep 1000", `ID: stopped by SIGTERM, bytes 0 to 0 of 0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			named := func(text string) string { return strings.ReplaceAll(text, "ID", id) }
			if c.arguments["id"] != nil {
				c.arguments["id"] = id
			}
			preview, err := h.Preview(t.Context(), c.tool, c.arguments)
			require.NoError(t, err)
			require.Contains(t, plain(preview.GetRoot()), named(c.previewed))
			result := tool(t, h, c.tool, c.arguments)
			if given, ok := result["session_id"].(string); ok {
				id = given
			}
			requireFits(t, schemas[c.tool], result)
			tree, err := h.Render(t.Context(), result)
			require.NoError(t, err)
			require.Regexp(t, "^"+named(c.shown)+"$", strings.Join(plain(tree.GetRoot()), "\n"))
		})
	}
}

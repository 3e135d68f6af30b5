package config

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/schema"
)

var callScope = Scope{Root: "/p", Cwd: "/p/sub", Home: "/home/u"}

func TestCallsInBothLanguages(t *testing.T) {
	const inHCL = `
call "write" {
  operation = "filesystem.write_file"
  arguments = {
    path    = "${path.root}/a"
    content = <<-EOT
      one
      two
    EOT
    n       = 1.5
    list    = ["x", true]
  }
}
call "then" {
  operation = "/release"
  after     = ["write"]
  timeout   = "90s"
}
call "beside" {
  operation = "bash.bash"
  after     = []
}
`
	const inJSON = `[
  {"name": "write", "operation": "filesystem.write_file",
   "arguments": {"path": "/p/a", "content": "one\ntwo\n", "n": 1.5, "list": ["x", true]}},
  {"name": "then", "operation": "/release", "after": ["write"], "timeout": "90s"},
  {"name": "beside", "operation": "bash.bash", "after": []}
]`
	for name, src := range map[string]string{"HCL": inHCL, "JSON": inJSON, "JSON object": `{"calls": ` + inJSON + "}", "after a mark": "\xef\xbb\xbf " + inJSON} {
		t.Run(name, func(t *testing.T) {
			list, err := LoadCalls([]byte(src), "calls", callScope)
			require.NoError(t, err)
			require.Len(t, list, 3)
			require.Equal(t, "write", list[0].Name)
			require.Equal(t, "filesystem.write_file", list[0].Operation)
			require.Equal(t, map[string]any{"path": "/p/a", "content": "one\ntwo\n", "n": 1.5, "list": []any{"x", true}}, list[0].Arguments.AsMap())
			require.Nil(t, list[0].After)
			require.Equal(t, []string{"write"}, list[1].After)
			require.Equal(t, 90*time.Second, list[1].Timeout)
			require.Empty(t, list[1].Arguments.AsMap())
			require.NotNil(t, list[2].After)
			require.Empty(t, list[2].After)
		})
	}
}

// Text in JSON stays as it is, whatever it looks like in another language.
func TestCallsInJSONAreNotTemplates(t *testing.T) {
	list, err := LoadCalls([]byte(`[{"operation": "a.b", "arguments": {"command": "echo ${HOME} %{if}", "é": "é", "deep": "`+strings.Repeat("${", 300)+`"}}, {"operation": "a.b"}]`), "calls", callScope)
	require.NoError(t, err)
	require.Equal(t, "echo ${HOME} %{if}", list[0].Arguments.AsMap()["command"])
	require.Equal(t, "é", list[0].Arguments.AsMap()["é"], "not composed")
	require.Equal(t, []string{"1", "2"}, []string{list[0].Name, list[1].Name})
}

func TestCallsReportEverythingAtOnce(t *testing.T) {
	tests := []struct {
		name string
		src  string
		want []string
	}{
		{"HCL", `
call "a" {
  operatoin = "x.y"
  arguments = { token = env("TOKEN") }
}
cal "b" {}
command "/release" {}
call "c" {
  operation = "x.y"
  arguments = ["a"]
  after     = ["d", "aa"]
  timeout   = "soon"
}
call "c" { operatio = "x.y" }
call { timeout = "1x" }
x = 1
`, []string{
			`calls:2:1: Missing operation. A call needs operation = "PROVIDER.TOOL" or "/COMMAND"`,
			`calls:3:3: Unknown argument "operatoin" (did you mean "operation"?)`,
			"calls:4:25: env() has no place in a call",
			`calls:6:1: Unknown block "cal"`,
			`calls:7:1: Unknown block "command". A slash command is a call as well`,
			"calls:10:15: Invalid arguments. Write arguments = { NAME = VALUE }",
			`calls:11:16: No call "d" above`,
			`calls:11:21: No call "aa" above`,
			`calls:12:15: Invalid timeout "soon"`,
			`calls:14:1: Duplicate call "c". The first one is at calls:8:1. Give this one another name.`,
			`calls:14:1: Missing operation`,
			`calls:14:12: Unknown argument "operatio"`,
			"calls:15:1: Missing name",
			"calls:15:1: Missing operation",
			`calls:15:18: Invalid timeout "1x"`,
			"calls:16:1: Unexpected argument",
		}},
		{"JSON", `[
  {"operation": "x.y", "argumens": {}},
  {"operation": 7, "arguments": []},
  {"name": "a", "operation": "x.y", "operation": "x.z", "arguments": {"n": 12345678901234567890}},
  {"name": "a", "operation": "x.y", "timeout": "1x"},
  "no",
  {"operation": "x.y", "arguments": {"a": 1, "a": 2}}
]`, []string{
			`calls:2:24: Unknown argument "argumens" (did you mean "arguments"?)`,
			"calls:3:17: Expected text",
			"calls:3:33: Expected an object",
			`calls:4:37: "operation" is given twice`,
			"calls:4:70: Invalid arguments. The number 12345678901234567890 cannot be passed on exactly",
			`calls:5:3: Duplicate call "a"`,
			`calls:5:48: Invalid timeout "1x"`,
			"calls:6:3: Expected an object",
			`calls:7:37: Invalid arguments. Duplicate map key "a"`,
		}},
		{"an object with something else", `{"call": []}`, []string{`calls:1:2: Unknown field "call" (did you mean "calls"?)`}},
		{"not JSON", `[{"operation": "x.y",]`, []string{"calls:1:22: ", "calls:1:22: "}},
		{"nothing", "# nothing\n", []string{"calls: calls has no calls"}},
		{"an empty list", "[]", []string{"calls: calls has no calls"}},
		{"no HCL", "call \"a\" {", []string{"calls:1:10: "}},
		{"too deep", strings.Repeat("[", 200), []string{"calls:1:101: Nested too deeply"}},
		{"too many", "[" + strings.Repeat(`{"operation": "x.y"},`, maxCalls) + `{"operation": "x.y"}]`, []string{"Too many calls. A list has at most 1000"}},
		{"too large", strings.Repeat(" ", maxCallsBytes+1), []string{"calls: calls is too large"}},
		{"text that HCL would change", "call \"a\" {\n  operation = \"x.y\"\n  arguments = { a = \"e\u0301\" }\n}\n", []string{"calls:3:15: The arguments would be changed"}},
		{"no name", "call \"\" {\n  operation = \"x.y\"\n}\n", []string{"calls:1:6: Empty name"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := LoadCalls([]byte(tt.src), "calls", callScope)
			var diags Diagnostics
			require.ErrorAs(t, err, &diags)
			lines := strings.Split(err.Error(), "\n")
			for i, want := range tt.want {
				require.Greater(t, len(lines), i, "%s", err)
				require.Contains(t, lines[i], want)
			}
			require.Len(t, lines, len(tt.want), "%s", err)
		})
	}
}

func TestCallArgumentErrorsAreShownWhereTheyAre(t *testing.T) {
	for name, src := range map[string]string{
		"HCL":  "call \"a\" {\n  operation = \"x.y\"\n  arguments = {\n    edits = [{}]\n  }\n}\n",
		"JSON": "[\n{\"operation\": \"x.y\", \"arguments\":\n{\n    \"edits\": [{}]}}\n]",
	} {
		t.Run(name, func(t *testing.T) {
			list, err := LoadCalls([]byte(src), "calls", callScope)
			require.NoError(t, err)
			diags := list[0].ArgumentErrors([]schema.Problem{{Path: "edits[0].old", Text: "is missing"}, {Path: "path", Text: "is missing"}})
			require.Len(t, diags, 2)
			require.Equal(t, 3, diags[0].Range.Start.Line, "the whole of the arguments")
			require.Equal(t, 4, diags[1].Range.Start.Line)
			require.Equal(t, `"edits[0].old" is missing.`, diags[1].Detail)
		})
	}
}

// Whatever is fed to it, a list of calls is read or refused, always alike, and what is read is complete.
func FuzzLoadCalls(f *testing.F) {
	f.Add([]byte("call \"a\" {\n  operation = \"x.y\"\n  arguments = { a = path.root }\n  after = []\n  timeout = \"1s\"\n}\n"))
	f.Add([]byte(`{"calls": [{"name": "a", "operation": "x.y", "arguments": {"a": [1, {"b": null}]}, "after": ["a"], "timeout": "1s"}]}`))
	f.Add([]byte(`[{"operation": "x.y", "arguments": "\ud800"}]`))
	if agent, err := os.ReadFile("../../../examples/project/agent.hcl"); err == nil {
		f.Add(agent)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		list, err := LoadCalls(src, "calls", callScope)
		again, err2 := LoadCalls(src, "calls", callScope)
		if err != nil {
			require.EqualError(t, err2, err.Error())
			return
		}
		require.Len(t, again, len(list))
		names := map[string]bool{}
		for _, c := range list {
			require.NotEmpty(t, c.Operation)
			require.NotEmpty(t, c.Name)
			require.False(t, names[c.Name])
			for _, after := range c.After {
				require.True(t, names[after])
			}
			names[c.Name] = true
			require.NotNil(t, c.Arguments)
		}
	})
}

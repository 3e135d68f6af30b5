package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	"github.com/agentco/agent/providers/release-tools/internal/gittest"
)

var update = flag.Bool("update", false, "write what the tests compare with")

// What callers and kernels are told is part of the behaviour: a change shows in review.
func TestSchema(t *testing.T) {
	for _, command := range start(t, gittest.Init(t), nil).Commands(t.Context()) {
		t.Run(command.GetName(), func(t *testing.T) {
			wire, err := protojson.Marshal(command)
			require.NoError(t, err)
			var value any
			require.NoError(t, json.Unmarshal(wire, &value)) // protojson varies its blanks on purpose
			got, err := json.MarshalIndent(value, "", "  ")
			require.NoError(t, err)
			golden(t, "testdata/"+command.GetName()+".json", append(got, '\n'))
		})
	}
}

// The table of commands in the README is made of the schema.
func TestReadmeNamesEveryCommand(t *testing.T) {
	const begin, end = "<!-- commands: the test with -update writes them -->\n", "<!-- end of commands -->\n"
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(readme), begin)
	require.True(t, ok)
	_, tail, ok := strings.Cut(rest, end)
	require.True(t, ok)
	table := "| command | kind, risk | arguments | what it does |\n|---|---|---|---|\n"
	for _, command := range start(t, gittest.Init(t), nil).Commands(t.Context()) {
		table += commandRow(command)
	}
	golden(t, "README.md", []byte(head+begin+table+end+tail))
}

// commandRow is a command as the README shows it: of its description the first line.
func commandRow(command *slashcommandv1.SlashCommandSpec) string {
	word := func(enum fmt.Stringer, prefix string) string {
		return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(enum.String(), prefix)), "_", "-")
	}
	does, _, _ := strings.Cut(command.GetDescription(), "\n")
	var arguments []string // the required ones first
	for _, name := range slices.Sorted(maps.Keys(command.GetInputSchema().GetProperties())) {
		if slices.Contains(command.GetInputSchema().GetRequired(), name) {
			arguments = slices.Insert(arguments, 0, "**"+name+"**")
		} else {
			arguments = append(arguments, name)
		}
	}
	return fmt.Sprintf("| `/%s` | %s, %s | %s | %s |\n", command.GetName(), word(command.GetKind(), "TOOL_KIND_"),
		word(command.GetRisk(), "RISK_CLASS_"), strings.Join(arguments, " "), does)
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "run the test with -update if this is meant")
}

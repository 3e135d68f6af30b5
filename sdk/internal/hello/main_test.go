package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agentco/agent/proto/plugin"
	"github.com/agentco/agent/sdk/sdktest"
)

func TestMain(m *testing.M) {
	if os.Getenv(plugin.MagicCookieKey) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

func TestTheProviderOfTheDocumentationWorks(t *testing.T) {
	h := sdktest.StartProcess(t, exec.Command(os.Args[0]), nil)
	require.Equal(t, map[string]any{"greeting": "Hello, Ada"}, h.Call(t.Context(), "greet", map[string]any{"name": "Ada"}).Result)
}

func TestTheDocumentationShowsThisProvider(t *testing.T) {
	doc, err := os.ReadFile("../../doc.go")
	require.NoError(t, err)
	source, err := os.ReadFile("main.go")
	require.NoError(t, err)
	_, program, found := strings.Cut(string(source), ")\n\n")
	require.True(t, found)
	var shown strings.Builder
	for line := range strings.Lines(program) {
		shown.WriteString(strings.ReplaceAll("//\t"+line, "//\t\n", "//\n"))
	}
	require.Contains(t, string(doc), shown.String())
	require.Less(t, strings.Count(strings.TrimSpace(program), "\n")-strings.Count(program, "\n\n"), 16, "it is meant to be short")
}

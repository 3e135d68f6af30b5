package config

import (
	"bytes"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/policy"
)

// requireInside holds every problem of a file to being a place in that file, shown with a line of it.
func requireInside(t *testing.T, src []byte, err error) {
	t.Helper()
	var diags Diagnostics
	if !errors.As(err, &diags) {
		return
	}
	lines := bytes.Count(src, []byte("\n")) + 1
	for _, d := range diags {
		require.NotEmpty(t, d.Summary)
		require.NotContains(t, d.Summary+d.Detail+d.Suggestion, secret)
		require.True(t, utf8.ValidString(d.Source))
		start, end := d.Range.Start, d.Range.End
		if start.Line == 0 {
			require.Zero(t, d.Range)
			continue
		}
		require.LessOrEqual(t, 0, start.Byte)
		require.LessOrEqual(t, start.Byte, end.Byte)
		require.LessOrEqual(t, end.Byte, len(src))
		require.LessOrEqual(t, end.Line, lines)
		require.LessOrEqual(t, 1, start.Column)
		require.LessOrEqual(t, start.Line, end.Line)
	}
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"", withProvider(`token = env("TOKEN")`), `policy "x" { match = {} action = "ask" }`, "\xef\xbb\xbfpolcy \"ä\" {}\r\n",
		"policy \"x\" {\n match = { command = [\"go test *\"], arguments = { path = \"${path.root}/{a,b}/**\" } }\n action = \"allow\"\n}",
		`required_providers { a = { source = "github.com/o/r//p", version = ">= 1, < 2" } }`, `hook "pre_tool_call" {}`,
		`provider "x" { a = <<EOT` + "\n${path.root}\nEOT\n}", "settings {\n retry {\n max_retries = 1e400\n backoff_factor = -0\n }\n}",
		twoProviders + "agent_profile \"default\" {\n tools = [\"fs.*\", \"*\"]\n slash_commands = [\"/rt.rel*\"]\n model \"a\" { b = c }\n}",
	} {
		f.Add([]byte(seed))
	}
	load := func(src []byte) (*Project, error) {
		file, diags := parse(FileName, src)
		return load(file, diags, "/project/agent.hcl", testScope())
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := load(bytes.Clone(src))
		requireInside(t, src, err)
		again, errAgain := load(bytes.Clone(src))
		require.Equal(t, err, errAgain)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		_, err = policy.New(p.Policies)
		require.NoError(t, err, "what was loaded is without contradiction")
		require.Equal(t, p.Policies, again.Policies)
		require.Equal(t, p.Profiles, again.Profiles)
		require.Equal(t, p.Settings, again.Settings)
		require.Equal(t, p.Warnings, again.Warnings)
		require.Equal(t, p.providerNames(), again.providerNames())
		requireInside(t, src, p.CheckNames(map[string]Offer{"fs": twoOffers["fs"]}))
		for i, pr := range p.Providers {
			config, err := pr.Decode(testSchema)
			requireInside(t, src, err)
			same, _ := again.Providers[i].Decode(testSchema)
			require.Equal(t, config.AsMap(), same.AsMap())
		}
	})
}

func FuzzLoadPolicyCases(f *testing.F) {
	for _, seed := range []string{
		"", "call \"a\" {\n operation = \"b.c\"\n arguments = { x = [1, null, path.root] }\n expect = \"ask\"\n}", "cal \"a\" {}", "a = 1",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file, diags := parse("policy.test.hcl", src)
		cases, err := loadPolicyCases(file, diags, testScope())
		requireInside(t, src, err)
		if err != nil {
			return
		}
		require.NotEmpty(t, cases)
		for _, c := range cases {
			require.NotEmpty(t, c.Operation)
			require.Contains(t, []policy.Action{policy.Allow, policy.Ask, policy.Deny}, c.Expect)
			require.NotNil(t, c.Arguments)
		}
	})
}

func FuzzLoadGlobal(f *testing.F) {
	for _, seed := range []string{
		"", `dev_overrides { a = "/x" }`, "registry_mirror {\n default = \"https://e.org\"\n mirror {\n prefix = \"github.com/o\"\n url = \"/m\"\n auth = env(\"T\")\n }\n direct {}\n}",
		`forge "git.example.org" { type = "gitlab" }`, `dev_overrides { a = env("TOKEN") }`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		load := func() (*Global, error) {
			file, diags := parse("config.hcl", bytes.Clone(src))
			return loadGlobal(file, diags, "/config.hcl", testScope())
		}
		g, err := load()
		requireInside(t, src, err)
		again, errAgain := load()
		require.Equal(t, err, errAgain)
		require.Equal(t, g, again)
	})
}

package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/policy"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// secret is the value of every variable that must never be shown.
const secret = "s3cr3t-abc"

func testScope() Scope {
	env := map[string]string{"TOKEN": secret, "EMPTY": "", "PORT": "8080", "BYTES": "\xff", "DECOMPOSED": "e\u0301"}
	return Scope{Root: "/project", Cwd: "/project/sub", Home: "/home/u", LookupEnv: func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}}
}

func loadText(src string) (*Project, Diagnostics) {
	f, diags := parse(FileName, []byte(src))
	p, err := load(f, diags, "/project/"+FileName, testScope())
	var ds Diagnostics
	errors.As(err, &ds)
	return p, ds
}

// fs is a project with one provider; settings go into its block.
func withProvider(settings string) string {
	return `required_providers { fs = { source = "github.com/o/r" } }` + "\n" + `provider "fs" {` + "\n" + settings + "\n}\n"
}

func TestLoad(t *testing.T) {
	p, diags := loadText(`
required_providers {
  filesystem = {
    source  = "github.com/agentco/agent//provider-filesystem"
    version = "~> 2.0.0"
  }
  release-tools = { source = "github.com/agentco/agent//provider-release-tools" }
}
provider "filesystem" {
  allowed_roots = ["${path.root}"]
}
policy "reads" {
  match  = { kind = "data_source", provider = "filesystem" }
  action = "allow"
}
policy "no_release" {
  match  = { tool_name = "/release", risk = "high" }
  action = "deny"
}
settings {
  log_level    = "debug"
  call_timeout = "90s"
}
`)
	require.Empty(t, diags)
	require.Len(t, p.Providers, 2)
	require.Equal(t, "filesystem", p.Providers[0].Name)
	require.Equal(t, "github.com/agentco/agent//provider-filesystem", p.Providers[0].Source.String())
	require.Equal(t, "~> 2.0.0", p.Providers[0].Version.String())
	require.Equal(t, "agent.hcl:3:3", p.Providers[0].Position())
	require.NotNil(t, p.Provider("release-tools"))
	require.Nil(t, p.Provider("bash"))
	require.Equal(t, "debug", p.Settings.LogLevel)
	require.Equal(t, "1m30s", p.Settings.CallTimeout.String())
	require.Equal(t, DefaultRetry, p.Settings.Retry)
	require.Equal(t, []policy.Rule{
		{Name: "reads", Source: "agent.hcl:12:1", Action: policy.Allow,
			Match: policy.Match{Kind: toolv1.ToolKind_TOOL_KIND_DATA_SOURCE, Provider: "filesystem"}},
		{Name: "no_release", Source: "agent.hcl:16:1", Action: policy.Deny,
			Match: policy.Match{ToolName: "release", Risk: toolv1.RiskClass_RISK_CLASS_HIGH}},
	}, p.Policies)
}

// K15: these shapes of a file are all valid.
func TestLoadTakesAnyTextForm(t *testing.T) {
	src := `required_providers { fs = { source = "github.com/o/r" } }` + "\n" + `provider "fs" {` + "\n" + `}`
	tests := []struct{ name, src string }{
		{"no newline at the end", src},
		{"CRLF", strings.ReplaceAll(src, "\n", "\r\n")},
		{"byte order mark", "\xef\xbb\xbf" + src},
		{"both", "\xef\xbb\xbf" + strings.ReplaceAll(src, "\n", "\r\n") + "\r\n"},
		{"line ends of both kinds", strings.Replace(src+"\n", "\n", "\r\n", 1)},
		{"a comment without newline at the end", src + "\n# ä"},
		{"a byte order mark alone", "\xef\xbb\xbf"},
		{"blank lines", "\n\r\n\t\n"},
		{"empty", ""},
		{"comments", "# a\n// b\n/* c */\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, diags := loadText(tt.src)
			require.Empty(t, diags)
		})
	}
}

func TestLoadProblems(t *testing.T) {
	required := `required_providers { fs = { source = "github.com/o/r" } }` + "\n"
	tests := []struct {
		name, src string
		want      []string // position, then words of summary and detail
	}{
		{"unknown block", `polcy "x" {}`, []string{"agent.hcl:1:1", `Unknown block "polcy"`, `Did you mean "policy"?`}},
		{"argument at the top", `log_level = "x"`, []string{"agent.hcl:1:1", "Unexpected argument"}},
		{"missing label", `provider {}`, []string{"agent.hcl:1:1", "Missing provider name"}},
		{"surplus label", required + `settings "x" {}`, []string{"agent.hcl:2:10", "Unexpected label"}},
		{"two labels", `policy "a" "b" {}`, []string{"agent.hcl:1:12", "Unexpected label"}},
		{"duplicate provider block", required + "provider \"fs\" {}\nprovider \"fs\" {}", []string{"agent.hcl:3:1", `Duplicate provider "fs"`, "agent.hcl:2:1"}},
		{"duplicate required_providers", required + required, []string{"agent.hcl:2:1", "Duplicate required_providers"}},
		{"not required, a typo", required + `provider "fz" {}`, []string{"agent.hcl:2:10", `Provider "fz" is not required`, `Did you mean "fs"?`}},
		{"not required", `provider "gitlab" {}`, []string{"agent.hcl:1:10", `Provider "gitlab" is not required`}},
		{"no source", `required_providers { fs = { version = "1.0.0" } }`, []string{"agent.hcl:1:22", "Missing source"}},
		{"source with a scheme", `required_providers { fs = { source = "https://github.com/o/r" } }`, []string{"agent.hcl:1:38", "Invalid source", "scheme"}},
		{"source is an expression", `required_providers { fs = { source = path.root } }`, []string{"agent.hcl:1:38", "Variables not allowed"}},
		{"version", `required_providers { fs = { source = "github.com/o/r", version = "^1.0" } }`, []string{"agent.hcl:1:66", "Invalid version constraint", "~> 1.2.0"}},
		{"unknown member", `required_providers { fs = { source = "github.com/o/r", versoin = "1" } }`, []string{"agent.hcl:1:56", `Unknown argument "versoin"`, `Did you mean "version"?`}},
		{"duplicate member", `required_providers { fs = { source = "github.com/o/r", source = "github.com/o/s" } }`, []string{"agent.hcl:1:56", `Duplicate argument "source"`}},
		{"provider as a block", `required_providers {` + "\n" + `fs { }` + "\n}", []string{"agent.hcl:2:1", "Unexpected block", "fs = {"}},
		{"provider name", `required_providers { Fs = { source = "github.com/o/r" } }`, []string{"agent.hcl:1:22", "Invalid provider name"}},
		{"hook", `hook "pre_tool_call" {}`, []string{"agent.hcl:1:1", `Nothing can be hooked to "pre_tool_call"`, "Version 1 of the protocol"}},
		{"hook point", `hook "pre_tool_cal" {}`, []string{"agent.hcl:1:6", `Unknown hook point "pre_tool_cal"`, `Did you mean "pre_tool_call"?`, "session_start, pre_model_call"}},
		{"unknown log level", `settings { log_level = "debgu" }`, []string{"agent.hcl:1:24", `Did you mean "debug"?`}},
		{"unknown setting", `settings { loglevel = "debug" }`, []string{"agent.hcl:1:12", `Did you mean "log_level"?`}},
		{"unknown block of settings", "settings {\n retri {}\n}", []string{"agent.hcl:2:2", `Unknown block "retri"`, `Did you mean "retry"?`}},
		{"two retries", "settings {\n retry {}\n retry {}\n}", []string{"agent.hcl:3:2", "Duplicate retry", "agent.hcl:2:2"}},
		{"retry as an argument", "settings {\n retry = {}\n}", []string{"agent.hcl:2:2", "Write it as a block"}},
		{"retry by an unknown name", "settings {\n retry { max_retry = 1 }\n}", []string{"agent.hcl:2:10", `Did you mean "max_retries"?`}},
		{"half a retry", "settings {\n retry { max_retries = 1.5 }\n}", []string{"agent.hcl:2:24", "Invalid max_retries", "a whole number from 0 to 20"}},
		{"retries without an end", "settings {\n retry { max_retries = 21 }\n}", []string{"agent.hcl:2:24", "from 0 to 20"}},
		{"retries that come faster", "settings {\n retry { backoff_factor = 0.5 }\n}", []string{"agent.hcl:2:27", "a number from 1 to 10"}},
		{"a delay in words", "settings {\n retry { base_delay_ms = \"500\" }\n}", []string{"agent.hcl:2:26", "a whole number from 1 to 60000"}},
		{"a delay that is nothing", "settings {\n retry { base_delay_ms = null }\n}", []string{"agent.hcl:2:26", "Invalid base_delay_ms"}},
		{"timeout", `settings { call_timeout = "5" }`, []string{"agent.hcl:1:27", "Invalid duration"}},
		{"policy without match", `policy "x" { action = "deny" }`, []string{"agent.hcl:1:1", "Missing match"}},
		{"policy action", "policy \"x\" {\n match = { provider = \"fs\" }\n action = \"den\"\n}", []string{"agent.hcl:3:11", `Unknown action "den"`, `Did you mean "deny"?`}},
		{"policy kind", "policy \"x\" {\n match = { kind = \"interactive\" }\n action = \"deny\"\n}", []string{"agent.hcl:2:19", `Unknown kind "interactive"`, "resource and data_source"}},
		{"policy about a name with its provider", "policy \"x\" {\n match = { tool_name = \"fs.read\" }\n action = \"deny\"\n}", []string{"agent.hcl:2:24", `No operation is called "fs.read"`, "without its provider"}},
		{"policy about a pattern", "policy \"x\" {\n match = { tool_name = \"/rel*\" }\n action = \"deny\"\n}", []string{"agent.hcl:2:24", `No operation is called "/rel*"`, "no patterns"}},
		{"policy by no arguments", "policy \"x\" {\n match = { arguments = {} }\n action = \"allow\"\n}", []string{"agent.hcl:2:24", "Expected globs of arguments"}},
		{"policy by a number", "policy \"x\" {\n match = { arguments = { path = 1 } }\n action = \"allow\"\n}", []string{"agent.hcl:2:33", "Expected a glob"}},
		{"policy by a glob that goes up", "policy \"x\" {\n match = { arguments = { path = \"../x\" } }\n action = \"allow\"\n}", []string{"agent.hcl:2:33", `Invalid glob "../x"`, "absolute"}},
		{"policy by a variable", "policy \"x\" {\n match = { arguments = { path = env(\"TOKEN\") } }\n action = \"allow\"\n}", []string{"agent.hcl:2:33", "Functions may not be called here"}},
		{"policy by an open glob", "policy \"x\" {\n match = { arguments = { path = \"a[\" } }\n action = \"allow\"\n}", []string{"agent.hcl:2:33", "not closed"}},
		{"policy by one command", "policy \"x\" {\n match = { command = \"ls\" }\n action = \"allow\"\n}", []string{"agent.hcl:2:22", "Expected a list of commands"}},
		{"policy by two commands in one", "policy \"x\" {\n match = { command = [\"a; b\"] }\n action = \"deny\"\n}", []string{"agent.hcl:2:23", `Invalid command pattern "a; b"`, "one command"}},
		{"policy that allows to evaluate", "policy \"x\" {\n match = { command = [\"sh -c *\"] }\n action = \"allow\"\n}", []string{"agent.hcl:2:10", `can never allow "sh -c *"`}},
		{"policies contradict in another order", "policy \"a\" {\n match = { command = [\"a\", \"b\"] }\n action = \"allow\"\n}\npolicy \"b\" {\n match = { command = [\"b\", \"a\"] }\n action = \"deny\"\n}", []string{"agent.hcl:5:1", "contradict"}},
		{"policies contradict in another spelling", "policy \"a\" {\n match = { arguments = { path = \"docs/**\" }, command = [\"go  test *\"] }\n action = \"allow\"\n}\npolicy \"b\" {\n match = { arguments = { path = \"./docs/**\" }, command = [\"go 'test' *\"] }\n action = \"deny\"\n}", []string{"agent.hcl:5:1", "contradict"}},
		{"policies contradict", "policy \"a\" {\n match = { tool_name = \"rm\" }\n action = \"allow\"\n}\npolicy \"b\" {\n match = { tool_name = \"rm\" }\n action = \"deny\"\n}", []string{"agent.hcl:5:1", "contradict", `"a" (agent.hcl:1:1)`}},
		{"unset variable", withProvider(`token = env("NOPE")`), []string{"agent.hcl:3:9", `Environment variable "NOPE" is not set`, `"token"`}},
		{"shell variable", withProvider(`token = "${TOKEN}"`), []string{"agent.hcl:3:12", "Unknown variable", `env("TOKEN")`, "$${TOKEN}"}},
		{"unknown function", withProvider(`token = file("x")`), []string{"agent.hcl:3:9", "Call to unknown function", "env and coalesce"}},
		{"Windows path", withProvider(`path = "C:\new"`), []string{"agent.hcl:3:9", "Backslash in a path"}},
		{"invalid escape", withProvider(`path = "C:\users"`), []string{"agent.hcl:3:11", "Invalid escape sequence"}},
		{"block for argument", withProvider("auth {\n}"), []string{"agent.hcl:3:1", `Unexpected block "auth"`, "auth = { … }"}},
		{"nothing for an action", "policy \"x\" {\n match = { tool_name = \"rm\" }\n action = null\n}", []string{"agent.hcl:3:11", "Expected a string", "Write it in double quotes."}},
		{"a word without quotes", "policy \"x\" {\n match = { tool_name = \"rm\" }\n action = deny\n}", []string{"agent.hcl:3:11", "Expected a string", `double quotes: "deny"`}},
		{"UTF-16", "\xff\xfea\x00", []string{"agent.hcl:1:1", "agent.hcl is not text in UTF-8", "PowerShell"}},
		{"a NUL", "settings {\n  log_level = \"in\x00fo\"\n}\n", []string{"agent.hcl:2:18", "agent.hcl is not text in UTF-8", "There is a NUL byte in it"}},
		{"a byte of another encoding", "settings {}\n# caf\xe9\n", []string{"agent.hcl:2:6", "is not text in UTF-8"}},
		{"too deep", "a = " + strings.Repeat("[", 5000), []string{"agent.hcl:1:105", "Nested too deeply"}},
		{"too many operators", "a = " + strings.Repeat("!", 5000), []string{"agent.hcl:1:105", "Nested too deeply"}},
		{"too large", strings.Repeat("#\n", maxFileBytes), []string{"agent.hcl", "too large"}},
		{"not text", "\xff\xfe\x00", []string{"agent.hcl:1:1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, diags := loadText(tt.src)
			require.NotEmpty(t, diags)
			require.Equal(t, tt.want[0], diags[0].Position(), "%v", diags)
			for _, words := range tt.want[1:] {
				require.Contains(t, diags[0].Summary+"\n"+diags[0].Detail, words)
			}
		})
	}
}

// K14: a provider that is used but not declared, or not quite, is told where it stands, with the name that is there.
func TestUndeclaredProviders(t *testing.T) {
	_, diags := loadText(`required_providers {
  gitlab = { version = "~> 1.0" }
}
provider "gitlba" {
  token = "x"
}
policy "p" {
  match  = { provider = "gitlab2" }
  action = "deny"
}
agent_profile "default" {
  tools = ["gitlub.search"]
}
provider "jira" {}
`)
	type problem struct{ at, summary, suggestion string }
	var got []problem
	for _, d := range diags {
		require.NotEmpty(t, d.Detail)
		got = append(got, problem{d.Position(), d.Summary, d.Suggestion})
	}
	require.Equal(t, []problem{
		{"agent.hcl:2:3", "Missing source", ""},
		{"agent.hcl:4:10", `Provider "gitlba" is not required`, "gitlab"},
		{"agent.hcl:8:25", `policy "p": no provider "gitlab2" is required (did you mean "gitlab"?)`, "gitlab"},
		{"agent.hcl:12:12", `agent_profile "default": no provider "gitlub" is required`, "gitlab"},
		{"agent.hcl:14:10", `Provider "jira" is not required`, ""},
	}, got)
}

// K15: all problems of a file in one run, each with its line.
func TestLoadReportsEverything(t *testing.T) {
	_, diags := loadText(`polcy "x" {}
required_providers {
  fs = { source = "nonsense" }
}
provider "fs" {
  path = "C:\users"
}
settings {
  log_level = "loud"
}
`)
	var at []int
	for _, d := range diags {
		at = append(at, d.Range.Start.Line)
	}
	require.Equal(t, []int{1, 3, 6, 9}, at, "%v", diags)
	require.Equal(t, `  path = "C:\users"`, diags[2].Source)
	require.Contains(t, diags.Error(), "agent.hcl:3:19: Invalid source. ")
}

// A file of nothing but problems is reported within bounds.
func TestLoadBoundsTheReport(t *testing.T) {
	_, diags := loadText("required_providers { fs = { " + strings.Repeat("x = 1, ", 30_000) + "} }")
	require.Len(t, diags, maxProblems+1)
	require.Empty(t, diags[0].Source)
	require.Contains(t, diags[maxProblems].Summary, "more problems")
}

func TestLoadWarnsAboutAnEmptyMatch(t *testing.T) {
	p, diags := loadText("policy \"all\" {\n match = {}\n action = \"deny\"\n}")
	require.Empty(t, diags)
	require.Len(t, p.Warnings, 1)
	require.Equal(t, Warning, p.Warnings[0].Severity)
	require.Equal(t, "agent.hcl:1:1", p.Warnings[0].Position())
}

// A deny with a typo would never match.
func TestLoadRefusesAPolicyAboutNoProvider(t *testing.T) {
	_, diags := loadText(withProvider("") + "policy \"a\" {\n match = { provider = \"fss\" }\n action = \"deny\"\n}\n" +
		"policy \"b\" {\n match = { provider = \"fs\" }\n action = \"deny\"\n}\n")
	require.Len(t, diags, 1)
	require.Equal(t, Error, diags[0].Severity)
	require.Equal(t, `policy "a": no provider "fss" is required (did you mean "fs"?)`, diags[0].Summary)
	require.Equal(t, "agent.hcl:6:23", diags[0].Position())
	require.Equal(t, ` match = { provider = "fss" }`, diags[0].Source)
}

func TestPolicyPatterns(t *testing.T) {
	scope := testScope()
	scope.Root = "/p[1]"
	f, syntax := parse(FileName, []byte(`policy "x" {
  match = {
    arguments = { path = "${path.root}/docs/**", "files.path" = "docs/*" }
    command   = ["go test *", "git status"]
  }
  action = "allow"
}
policy "all" {
  match  = { command = ["*"] }
  action = "deny"
}
`))
	p, err := load(f, syntax, "/p[1]/"+FileName, scope)
	require.NoError(t, err)
	require.Equal(t, policy.Match{
		Arguments: map[string]string{"path": `/p\[1\]/docs/**`, "files.path": "docs/*"}, Command: []string{"go test *", "git status"},
	}, p.Policies[0].Match)
	require.Len(t, p.Warnings, 1)
	require.Contains(t, p.Warnings[0].Detail, `matches every command`)
}

func TestCheckNamesInPolicies(t *testing.T) {
	rule := func(match string) string {
		return "policy \"a\" {\n match = { " + match + " }\n action = \"deny\"\n}\n"
	}
	both := map[string]Offer{"fs": {Tools: []string{"read_file", "write_file"}}, "rt": {Commands: []string{"release"}}}
	tests := []struct {
		name, match string
		started     map[string]Offer
		want        string
	}{
		{"right", `provider = "fs", tool_name = "read_file"`, both, ""},
		{"right, of any", `tool_name = "/release"`, both, ""},
		{"no tool", `provider = "fs"`, both, ""},
		{"typo", `provider = "fs", tool_name = "write_fil"`, both, `policy "a": provider "fs" does not have a tool or command "write_fil" (did you mean "write_file"?)`},
		{"of another provider", `provider = "fs", tool_name = "release"`, both, `policy "a": provider "fs" does not have a tool or command "release"`},
		{"typo, of any", `tool_name = "relese"`, both, `policy "a": no provider has a tool or command "relese" (did you mean "release"?)`},
		{"its provider was not started", `provider = "fs", tool_name = "write_fil"`, map[string]Offer{"rt": {}}, ""},
		{"a provider was not started", `tool_name = "relese"`, map[string]Offer{"fs": {}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, diags := loadText("required_providers {\n fs = { source = \"github.com/o/r\" }\n rt = { source = \"github.com/o/r\" }\n}\n" + rule(tt.match))
			require.Empty(t, diags)
			err := p.CheckNames(tt.started)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			var problems Diagnostics
			require.ErrorAs(t, err, &problems)
			require.Len(t, problems, 1)
			require.Equal(t, tt.want, problems[0].Summary)
			require.Equal(t, 6, problems[0].Range.Start.Line)
		})
	}
}

func TestUnknownVariables(t *testing.T) {
	tests := []struct{ name, expr, env, literal string }{
		{"plain", "HOME", `env("HOME")`, "$${HOME}"},
		{"variable", "var.foo", `env("foo")`, "$${var.foo}"},
		{"in a template", `"${env.HOME}/x"`, `env("HOME")`, "$${env.HOME}"},
		{"beside others", `"${path.root}${a.b}"`, `env("b")`, "$${a.b}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, diags := loadText(withProvider("token = " + tt.expr))
			require.Len(t, diags, 1)
			require.Contains(t, diags[0].Detail, tt.env)
			require.Contains(t, diags[0].Detail, tt.literal)
		})
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	require.NoError(t, os.MkdirAll(deep, 0o755))

	_, err := Find(deep)
	var none *NoProjectError
	require.ErrorAs(t, err, &none)
	require.ErrorContains(t, err, "-C DIR")

	want := filepath.Join(root, FileName)
	require.NoError(t, os.WriteFile(want, nil, 0o644))
	got, err := Find(deep)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestLoadUnreadable(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, path string)
		want string
	}{
		{"folder", func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o755)) }, "not a regular file"},
		{"dangling link", func(t *testing.T, path string) { require.NoError(t, os.Symlink("nowhere", path)) }, "no such file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), FileName)
			tt.make(t, path)
			_, err := Load(path, FileName, testScope())
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestRetrySettings(t *testing.T) {
	tests := []struct {
		name, src string
		want      Retry
	}{
		{"none", ``, DefaultRetry},
		{"no block", `settings {}`, DefaultRetry},
		{"empty", "settings {\n retry {}\n}", DefaultRetry},
		{"all", "settings {\n retry {\n base_delay_ms = 20\n backoff_factor = 1.5\n max_retries = 0\n }\n}", Retry{BaseDelay: 20 * time.Millisecond, Factor: 1.5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, diags := loadText(tt.src)
			require.Empty(t, diags)
			require.Equal(t, tt.want, p.Settings.Retry)
		})
	}
}

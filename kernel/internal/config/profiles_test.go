package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const twoProviders = "required_providers {\n fs = { source = \"github.com/o/r\" }\n rt = { source = \"github.com/o/r\" }\n}\n"

var twoOffers = map[string]Offer{
	"fs": {Tools: []string{"read_file", "read_many", "write_file"}},
	"rt": {Tools: []string{"tags"}, Commands: []string{"release", "changelog"}},
}

func TestProfiles(t *testing.T) {
	p, diags := loadText(twoProviders + `
agent_profile "default" {
  tools          = ["fs.read_*", "rt.tags", "elsewhere.*"]
  slash_commands = ["/changelog", "rt.rel*"]

  model "big" "one" {
    anything = { at = [path.root, all] }
    nested { }
  }
}
agent_profile "nothing" {
}
agent_profile "everything" {
  tools          = ["*"]
  slash_commands = ["*"]
}`)
	require.Empty(t, diags)
	require.NoError(t, p.CheckNames(twoOffers))
	profile := p.Profile(DefaultProfile)
	require.Equal(t, "agent.hcl:6:1", profile.Position())
	require.Equal(t, []Model{{Labels: []string{"big", "one"}, Text: "model \"big\" \"one\" {\n    anything = { at = [path.root, all] }\n    nested { }\n  }"}}, profile.Models)
	require.Nil(t, p.Profile("defualt"))

	tests := []struct {
		profile, provider, name string
		command, want           bool
	}{
		{"default", "fs", "read_file", false, true},
		{"default", "fs", "write_file", false, false},
		{"default", "rt", "tags", false, true},
		{"default", "elsewhere", "thing", false, true},
		{"default", "rt", "changelog", true, true},
		{"default", "rt", "release", true, true},
		{"default", "other", "release", true, false},
		{"default", "rt", "release", false, false},
		{"nothing", "fs", "read_file", false, false},
		{"nothing", "rt", "changelog", true, false},
		{"everything", "fs", "write_file", false, true},
		{"everything", "rt", "release", true, true},
	}
	for _, tt := range tests {
		has := p.Profile(tt.profile).HasTool
		if tt.command {
			has = p.Profile(tt.profile).HasCommand
		}
		require.Equal(t, tt.want, has(tt.provider, tt.name), "%+v", tt)
	}
}

func TestStarred(t *testing.T) {
	tests := []struct {
		pattern, name string
		want          bool
	}{
		{"*", "", true},
		{"a*", "a", true},
		{"a*a", "a", false},
		{"*a*b", "xxaybzb", true},
		{"*ab*", "xabx", true},
		{"a**b", "ab", true},
		{"a*b*c", "acb", false},
		{"ab", "abc", false},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, starred(tt.pattern, tt.name), "%s %s", tt.pattern, tt.name)
	}
}

func TestProfileRefusals(t *testing.T) {
	p, diags := loadText(twoProviders + "agent_profile \"default\" {\n  tools = [\"fs.read_file\"]\n}")
	require.Empty(t, diags)
	profile := p.Profile("default")
	require.Equal(t, `fs.write_file is not in scope of agent_profile "default" (agent.hcl:5:1): add "fs.write_file" to its tools (agent.hcl:6:3), or choose another profile with --profile`,
		profile.Refusal("fs", "write_file", false))
	require.Equal(t, `/release is not in scope of agent_profile "default" (agent.hcl:5:1): it has no slash_commands; add slash_commands = ["release"] to it, or choose another profile with --profile`,
		profile.Refusal("rt", "release", true))
}

func TestProfileProblems(t *testing.T) {
	block := func(inside string) string { return twoProviders + "agent_profile \"x\" {\n " + inside + "\n}" }
	tests := []struct {
		name, src string
		want      []string
	}{
		{"no name", twoProviders + `agent_profile {}`, []string{"agent.hcl:5:1", "Missing profile name"}},
		{"a name for no flag", twoProviders + `agent_profile "my profile" {}`, []string{"agent.hcl:5:15", "Invalid profile name"}},
		{"twice", twoProviders + "agent_profile \"x\" {}\nagent_profile \"x\" {}", []string{"agent.hcl:6:1", `Duplicate agent_profile "x"`, "agent.hcl:5:1"}},
		{"unknown argument", block(`tool = []`), []string{"agent.hcl:6:2", `Unknown argument "tool"`, `Did you mean "tools"?`}},
		{"unknown block", block("modle {\n}"), []string{"agent.hcl:6:2", `Unknown block "modle"`, `Did you mean "model"?`}},
		{"tools as a block", block("tools {\n}"), []string{"agent.hcl:6:2", "Write it as an argument"}},
		{"one tool", block(`tools = "fs.*"`), []string{"agent.hcl:6:10", "Expected a list"}},
		{"a number", block(`tools = [1]`), []string{"agent.hcl:6:11", "Expected a string"}},
		{"a variable", block(`tools = [path.root]`), []string{"agent.hcl:6:11", "Variables not allowed"}},
		{"a provider alone", block(`tools = ["fs"]`), []string{"agent.hcl:6:11", `"fs.*" for all tools`}},
		{"a command among tools", block(`tools = ["/release"]`), []string{"agent.hcl:6:11", `slash_commands = ["release"]`}},
		{"half a provider", block(`tools = ["f*.read_file"]`), []string{"agent.hcl:6:11", "named in full"}},
		{"no name of a tool", block(`tools = ["fs.read file"]`), []string{"agent.hcl:6:11", `"read file" is no name of an operation`}},
		{"an empty name", block(`slash_commands = [""]`), []string{"agent.hcl:6:20", "no name of an operation"}},
		{"a tool of no provider", block(`tools = ["fz.read_file"]`), []string{"agent.hcl:6:11", `agent_profile "x": no provider "fz" is required`, `Did you mean "fs"?`}},
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

// A pattern for what is not loaded is for nothing; one that looks like a typo is told all the same.
func TestProfilePatternsOfOtherProviders(t *testing.T) {
	p, diags := loadText(twoProviders + `agent_profile "x" { tools = ["bash.*"] }`)
	require.Empty(t, diags)
	require.Empty(t, p.Warnings)
	p, diags = loadText(twoProviders + `agent_profile "x" { tools = ["fz.*"] }`)
	require.Empty(t, diags)
	require.Len(t, p.Warnings, 1)
	require.Equal(t, "fs", p.Warnings[0].Suggestion)
}

func TestCheckNamesInProfiles(t *testing.T) {
	partly := map[string]Offer{"fs": twoOffers["fs"]}
	tests := []struct {
		name, inside string
		started      map[string]Offer
		want         string
	}{
		{"right", `tools = ["fs.read_file", "*.tags", "fs.*_file"]`, twoOffers, ""},
		{"everything of one without commands", `slash_commands = ["fs.*"]`, twoOffers, ""},
		{"typo", `tools = ["fs.raed_file"]`, twoOffers, `agent_profile "x": provider "fs" does not have a tool "raed_file" (did you mean "read_file"?)`},
		{"pattern of nothing", `tools = ["fs.reed_*"]`, twoOffers, `agent_profile "x": provider "fs" does not have a tool "reed_*"`},
		{"command", `slash_commands = ["relese"]`, twoOffers, `agent_profile "x": no provider has a command "relese" (did you mean "release"?)`},
		{"command among tools", `tools = ["rt.release"]`, twoOffers, "slash_commands"},
		{"its provider was not started", `tools = ["rt.tag"]`, partly, ""},
		{"a provider was not started", `slash_commands = ["relese"]`, partly, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, diags := loadText(twoProviders + "agent_profile \"x\" {\n" + tt.inside + "\n}")
			require.Empty(t, diags)
			err := p.CheckNames(tt.started)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
			require.ErrorContains(t, err, "agent.hcl:6:")
		})
	}
}

package main

import (
	"context"

	"github.com/agentco/agent/providers/release-tools/internal/release"
	"github.com/agentco/agent/providers/release-tools/internal/repo"
	"github.com/agentco/agent/sdk"
)

type config struct {
	ChangelogPath string   `hcl:"changelog_path" default:"CHANGELOG.md" doc:"The changelog, relative to the root of the repository."`
	TagPrefix     string   `hcl:"tag_prefix" default:"v" doc:"What stands before the version in a tag, for example sdk/v."`
	TagMessage    string   `hcl:"tag_message" default:"Release {version}" doc:"Message of the annotated tag. {version}, {tag}, {date} and {notes} are filled in."`
	Commit        bool     `hcl:"commit" default:"false" doc:"Commit the rewritten changelog and tag that commit. Without it, HEAD is tagged and the rewrite is left in the working tree."`
	CommitMessage string   `hcl:"commit_message" default:"Release {version}" doc:"Message of that commit, filled in like tag_message."`
	Sign          string   `hcl:"sign,optional" doc:"off, ssh or openpgp. Without it, git's own settings decide."`
	Branches      []string `hcl:"branches,optional" doc:"Branches that may release, as names or patterns such as release/*. HEAD allows a detached HEAD. Without it, any branch may."`
	AllowDirty    bool     `hcl:"allow_dirty" default:"false" doc:"Release although other tracked files have changes."`
	CompareURL    string   `hcl:"compare_url,optional" doc:"Link between two tags {from} and {to}. Without it, the links in the changelog are followed, else the remote origin."`

	Env map[string]string `hcl:"env,optional" doc:"Environment variables that git gets, such as SSH_AUTH_SOCK = env(\"SSH_AUTH_SOCK\") to sign with a key of ssh-agent, or GIT_COMMITTER_NAME."`

	project string // where the kernel was started
	shown   shown
}

func setup(_ context.Context, cfg *config, env sdk.Env) error {
	cfg.project = env.Dir
	return badField(cfg.settings().Check())
}

func (c *config) settings() release.Settings {
	return release.Settings{
		Changelog: c.ChangelogPath, TagPrefix: c.TagPrefix, TagMessage: c.TagMessage,
		Commit: c.Commit, CommitMessage: c.CommitMessage, Sign: repo.Signing(c.Sign),
		Branches: c.Branches, AllowDirty: c.AllowDirty, CompareURL: c.CompareURL, Env: c.Env,
	}
}

// workingDir is where a call looks for its repository.
func workingDir(call *sdk.Call[config]) string {
	if call.Dir != "" {
		return call.Dir
	}
	return call.Config.project
}

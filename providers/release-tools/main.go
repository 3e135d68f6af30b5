// Command release-tools is a provider of slash commands for releases: it shows a changelog, and it makes a release that
// is right or did not happen.
//
//	changelog        one file per command: arguments in, domain packages called, payload out
//	release
//	internal/changelog   the file, by byte span          internal/repo      the repository, go-git and git
//	internal/release     the steps, all or nothing       internal/textfile  one file, read and replaced safely
//	internal/semver      versions, strictly              internal/forge     where forges show comparisons
//	internal/refusal     how all of them say no
package main

import "github.com/agentco/agent/sdk"

// version is set by the linker for a released build.
var version string

func main() { sdk.Main(provider()) }

func provider() *sdk.Provider[config] {
	p := sdk.New[config]("release-tools", "Shows the changelog and makes releases.")
	p.Source("github.com/agentco/agent//provider-release-tools")
	if version != "" {
		p.Version(version)
	}
	p.Setup(setup)
	addChangelog(p)
	addRelease(p)
	return p
}

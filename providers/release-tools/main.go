// Command release-tools is a provider of slash commands for releases: it keeps a changelog, says which version comes
// next, makes a release that is right or did not happen, and takes it back.
//
//	changelog  changelog-add  changelog-draft    one file per command: arguments in, domain packages called, payload out
//	next-version  release  release-undo  tags
//	internal/changelog     the file, by byte span           internal/repo      the repository, go-git and git
//	internal/release       the steps, all or nothing        internal/textfile  one file, read and replaced safely
//	internal/conventional  what commits announce            internal/forge     where forges show comparisons
//	internal/semver        versions, strictly               internal/refusal   how all of them say no
package main

import (
	"embed"
	"path"
	"strings"

	"github.com/agentco/agent/sdk"
)

// version is set by the linker for a released build.
var version string

func main() { sdk.Main(provider()) }

//go:embed descriptions/*.md
var descriptions embed.FS

// description returns what callers are told about a command.
func description(command string) string {
	text, err := descriptions.ReadFile(path.Join("descriptions", command+".md"))
	if err != nil {
		panic("no description of " + command) // a fault of the program
	}
	return strings.TrimSpace(string(text))
}

func provider() *sdk.Provider[config] {
	p := sdk.New[config]("release-tools", "Shows the changelog and makes releases.")
	p.Source("github.com/agentco/agent//provider-release-tools")
	if version != "" {
		p.Version(version)
	}
	p.Setup(setup)
	addChangelog(p)
	addRelease(p)
	addNextVersion(p)
	addDraft(p)
	addAdd(p)
	addUndo(p)
	addTags(p)
	return p
}

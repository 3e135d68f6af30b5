// Package release makes a release that is right or did not happen.
//
// Prepare reads everything and refuses what would fail; it writes nothing and its Plan can be shown. Run then takes the
// few steps that are left, each with the way back:
//
//	commit = false    tag HEAD            →  rewrite the changelog
//	commit = true     rewrite the changelog  →  commit it  →  tag the commit
//
// Before them goes a record of what the release makes, in git's folder. It is how PrepareUndo knows what it may take back,
// and how the next Prepare knows what a killed process left behind.
//
// A step that fails undoes the ones before it. A cancel is heard between steps. With commit = true it undoes too; with
// commit = false a tag that was made stands, and the report says so.
package release

import (
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/repo"
	"github.com/agentco/agent/providers/release-tools/internal/semver"
	"github.com/agentco/agent/providers/release-tools/internal/textfile"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Auto stands for the version that Next suggests.
const Auto = "auto"

// Request is what a caller asks for.
type Request struct {
	Dir     string // anywhere in the working tree
	Version string // SemVer, perhaps with a "v", or Auto
	Date    string // ISO day, "" for today in UTC
	Message string // of the tag, "" for the configured one
	Now     time.Time
}

// Plan is a release that was checked and not begun.
type Plan struct {
	Version  semver.Version
	Tag      string
	Date     string
	Branch   string // "" when HEAD is detached
	Head     string // the commit that HEAD is at
	Commit   bool   // whether the changelog is committed
	After    []byte // the changelog to be
	Why      string // what asked for an automatic version, "" for one that was given
	Warnings []string

	settings Settings
	message  string // of the tag
	subject  string // of the commit
	tagger   object.Signature
	entry    string // of the index for the changelog
	repo     *repo.Repo
	file     *textfile.File
}

// Changelog is the path of the changelog as configured.
func (p *Plan) Changelog() string { return p.file.Name }

// Before is the changelog as it is.
func (p *Plan) Before() []byte { return p.file.Content }

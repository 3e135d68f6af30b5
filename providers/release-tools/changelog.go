package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/agentco/agent/providers/release-tools/internal/changelog"
	"github.com/agentco/agent/providers/release-tools/internal/repo"
	"github.com/agentco/agent/providers/release-tools/internal/textfile"
	"github.com/agentco/agent/sdk"
)

type changelogIn struct {
	Since   string `json:"since,omitempty" doc:"A version or tag: show also every release newer than it."`
	Version string `json:"version,omitempty" doc:"A version or tag: show that release instead of the unreleased entries."`
	Format  string `json:"format" default:"markdown" enum:"markdown,json" doc:"markdown: text as it is in the file; json: entries by category."`
}

// changelogOut holds only what the arguments ask for; without any, the unreleased text alone.
type changelogOut struct {
	Unreleased *string `json:"unreleased,omitempty"`
	entry
	Releases []entry `json:"releases,omitempty"`
}

// entry is one release, or the categories of the unreleased part.
type entry struct {
	Version  string     `json:"version,omitempty"`
	Date     string     `json:"date,omitempty"`
	Yanked   bool       `json:"yanked,omitempty"`
	Markdown string     `json:"markdown,omitempty"`
	Sections []category `json:"sections,omitempty"`
}

type category struct {
	Name    string   `json:"name"`
	Entries []string `json:"entries"`
}

func addChangelog(p *sdk.Provider[config]) {
	sdk.Command(p, "changelog", description("changelog"), showChangelog).
		ReadOnly().Idempotent().
		Preview(func(call *sdk.Call[config], _ changelogIn) (sdk.Plan, error) {
			return sdk.Reads(call.Config.ChangelogPath), nil
		}).
		Show(changelogNode)
}

func showChangelog(ctx context.Context, call *sdk.Call[config], in changelogIn) (changelogOut, error) {
	if in.Since != "" && in.Version != "" {
		return changelogOut{}, sdk.InvalidArgument("since", "cannot be given together with version: ask for one of them")
	}
	call.Status("reading %s", call.Config.ChangelogPath)
	doc, err := readChangelog(call)
	if err != nil {
		return changelogOut{}, explain(err)
	}
	if err := ctx.Err(); err != nil {
		return changelogOut{}, err
	}
	out, err := query{doc, call.Config.TagPrefix, in}.run()
	if err != nil {
		return changelogOut{}, explain(err)
	}
	return out, fits(out)
}

// mostText keeps an answer below the 4 MiB that a message may have, whatever escaping adds.
const mostText = 3 << 20

// fits refuses an answer that is too large for one message.
func fits(out any) error {
	raw, err := json.Marshal(out)
	if err != nil || len(raw) <= mostText {
		return err
	}
	return sdk.Failed("the answer is %d KiB, more than the %d KiB that fit: ask for less, such as a newer since or one version", len(raw)>>10, mostText>>10)
}

// readChangelog needs no more than the file: it works where the repository itself cannot be opened, and in a folder that
// is in none.
func readChangelog(call *sdk.Call[config]) (*changelog.Document, error) {
	f, err := openChangelog(call)
	if err != nil {
		return nil, err
	}
	return changelog.Parse(f.Name, f.Content)
}

func openChangelog(call *sdk.Call[config]) (*textfile.File, error) {
	root, err := repo.Root(workingDir(call))
	if err != nil {
		root = workingDir(call)
	}
	return textfile.Open(root, call.Config.ChangelogPath)
}

// query is what a call asks of a changelog.
type query struct {
	doc    *changelog.Document
	prefix string // of tags, which may stand for versions
	in     changelogIn
}

func (q query) run() (changelogOut, error) {
	switch {
	case q.in.Version != "":
		s, err := q.doc.Find(strings.TrimPrefix(q.in.Version, q.prefix))
		if err != nil {
			return changelogOut{}, err
		}
		return changelogOut{entry: q.entry(s)}, nil
	case q.in.Since != "":
		return q.since()
	}
	u, err := q.doc.Unreleased()
	if err != nil {
		return changelogOut{}, err
	}
	return q.unreleased(u), nil
}

// since answers from the releases alone when the file has no place for unreleased entries.
func (q query) since() (changelogOut, error) {
	newer, err := q.doc.Since(strings.TrimPrefix(q.in.Since, q.prefix))
	if err != nil {
		return changelogOut{}, err
	}
	out := changelogOut{}
	if u, err := q.doc.Unreleased(); err == nil {
		out = q.unreleased(u)
	}
	for _, s := range newer {
		out.Releases = append(out.Releases, q.entry(s))
	}
	return out, nil
}

func (q query) unreleased(u changelog.Section) changelogOut {
	text := q.doc.Text(u)
	out := changelogOut{Unreleased: &text}
	if q.in.Format == "json" {
		out.Sections = q.categories(u)
	}
	return out
}

func (q query) entry(s changelog.Section) entry {
	e := entry{Version: s.Label, Date: s.Date, Yanked: s.Yanked, Sections: q.categories(s)}
	if q.in.Format != "json" {
		e.Markdown = q.doc.Text(s)
	}
	return e
}

func (q query) categories(s changelog.Section) []category {
	var out []category
	for _, c := range q.doc.Categories(s) {
		out = append(out, category{c.Name, append([]string{}, c.Entries...)})
	}
	return out
}

package main

import (
	"context"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/release"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type nextIn struct {
	Pre     string `json:"pre,omitempty" doc:"Label of a pre-release, such as rc: suggests the next 1.5.0-rc.N."`
	Verbose bool   `json:"verbose,omitempty" doc:"List the commits that ask for no version too."`
}

type nextOut struct {
	Version  string    `json:"version"`
	Tag      string    `json:"tag"`
	Previous string    `json:"previous,omitempty" doc:"The last final release."`
	Level    string    `json:"level" enum:"none,patch,minor,major" doc:"The part of the version that is raised."`
	Reasons  []reason  `json:"reasons" doc:"What asks for it, the weightiest first."`
	Skipped  []skipped `json:"skipped,omitempty" doc:"Commits that ask for no version, if verbose."`
	Omitted  int       `json:"omitted,omitempty" doc:"How many more reasons and skipped commits there are than the first 500 of each."`
	Warnings []string  `json:"warnings,omitempty"`
}

type reason struct {
	Level  string `json:"level"`
	Source string `json:"source" enum:"commit,changelog,release"`
	Commit string `json:"commit,omitempty"`
	Text   string `json:"text"`
}

// skipped is a commit that was read and does not count.
type skipped struct {
	Commit  string `json:"commit"`
	Subject string `json:"subject"`
	Why     string `json:"why"`
}

func addNextVersion(p *sdk.Provider[config]) {
	sdk.Command(p, "next-version", description("next-version"), nextVersion).
		ReadOnly().Idempotent().
		Preview(func(call *sdk.Call[config], _ nextIn) (sdk.Plan, error) {
			return sdk.Says("read %s, the tags and the commits since the last release", call.Config.ChangelogPath), nil
		}).
		Show(nextNode)
}

func nextVersion(ctx context.Context, call *sdk.Call[config], in nextIn) (nextOut, error) {
	call.Status("reading %s and the commits since the last release", call.Config.ChangelogPath)
	next, err := release.Next(ctx, call.Config.settings(), workingDir(call), in.Pre, time.Now())
	if err != nil {
		return nextOut{}, explain(err)
	}
	out := nextOut{
		Version: next.Version.String(), Tag: call.Config.TagPrefix + next.Version.String(), Previous: next.Previous,
		Level: next.Level.String(), Reasons: []reason{}, Warnings: next.Warnings,
	}
	for _, r := range first(next.Reasons, &out.Omitted) {
		out.Reasons = append(out.Reasons, reason{r.Level.String(), r.Source, r.Commit, clip(r.Text)})
	}
	if in.Verbose {
		out.Skipped = listSkipped(first(next.Skipped, &out.Omitted))
	}
	return out, nil
}

// The most reasons of a payload and the most runes of one: a project without tags gives all of its history as a reason.
const (
	mostListed = 500
	mostRunes  = 300
)

// first cuts a list and counts what is left out.
func first[T any](list []T, omitted *int) []T {
	n := min(len(list), mostListed)
	*omitted += len(list) - n
	return list[:n]
}

func clip(text string) string {
	if runes := []rune(text); len(runes) > mostRunes {
		return string(runes[:mostRunes]) + "…"
	}
	return text
}

func listSkipped(list []release.Skipped) []skipped {
	var out []skipped
	for _, s := range list {
		out = append(out, skipped{s.Commit, clip(s.Subject), s.Why})
	}
	return out
}

// mostShown is how many lines of one kind a person is shown; the payload has all of them.
const mostShown = 20

func nextNode(out nextOut) render.Node {
	after := "the first release"
	if out.Previous != "" {
		after = "after " + out.Previous
	}
	nodes := []render.Node{render.Styled(render.Bold, out.Version+", "+after)}
	rows := [][]string{}
	for i, r := range out.Reasons {
		if i == mostShown {
			rows = append(rows, []string{"…", "", plural(len(out.Reasons)-i+out.Omitted, "reason") + " more"})
			break
		}
		from := r.Source
		if r.Commit != "" {
			from = short(r.Commit)
		}
		rows = append(rows, []string{r.Level, from, r.Text})
	}
	nodes = append(nodes, render.Table([]string{"asks for", "from", "what"}, rows...))
	nodes = append(nodes, skippedNodes(out.Skipped)...)
	return render.Group(append(nodes, warningNodes(out.Warnings)...)...)
}

func skippedNodes(list []skipped) []render.Node {
	if len(list) == 0 {
		return nil
	}
	var items []render.Node
	for _, s := range list[:min(mostShown, len(list))] {
		items = append(items, render.Text(short(s.Commit)+" "+s.Subject+" ("+s.Why+")"))
	}
	if more := len(list) - len(items); more > 0 {
		items = append(items, render.Styled(render.Dim, plural(more, "commit")+" more"))
	}
	return []render.Node{render.Collapsible(plural(len(list), "commit")+" left out", render.List(items...))}
}

func warningNodes(list []string) []render.Node {
	nodes := make([]render.Node, len(list))
	for i, w := range list {
		nodes[i] = render.Styled(render.Warning, w)
	}
	return nodes
}

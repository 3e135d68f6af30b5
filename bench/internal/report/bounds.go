package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/agentco/agent/bench/internal/row"
)

// part is a figure of a bound, or one that is shown beside it.
type part struct {
	named  string
	figure figure
	alike  bool // it does the same as ours
}

// bound is what a figure cannot be less than: the sum of its parts.
type bound struct {
	parts []part
	// mean is our mean, which is held to a floor of means; nil for the figure of the target.
	mean figure
}

// Bounds are those of the targets that a set does not meet.
func Bounds(s *row.Set) (all []row.Bound) {
	for _, t := range Targets {
		if v := t.Judge(s); v.Measured() && !v.Met() {
			all = append(all, v.bound(s))
		}
	}
	return all
}

// bound takes the highest of the bounds of a target.
func (v Verdict) bound(s *row.Set) row.Bound {
	highest := row.Bound{}
	for i, b := range v.Bounds {
		if one := b.of(s, v); i == 0 || one.Floor > highest.Floor {
			highest = one
		}
	}
	highest.Work, highest.Ratio, highest.Wanted = v.Work, v.Ratio, wanted(v.Target)
	if highest.Ours == 0 {
		highest.Ours = v.Value
	}
	for _, p := range v.Beside {
		ms := p.figure(s)
		if math.IsNaN(ms) {
			continue
		}
		beside := row.Part{Named: p.named, MS: ms}
		if p.alike {
			beside.Ratio = v.Value / ms
		}
		highest.Beside = append(highest.Beside, beside)
	}
	return highest
}

// of measures a bound. One of which a part is missing has no floor.
func (b bound) of(s *row.Set, v Verdict) (out row.Bound) {
	for _, p := range b.parts {
		ms := p.figure(s)
		if math.IsNaN(ms) {
			out.Missing = append(out.Missing, p.named)
			continue
		}
		out.Parts = append(out.Parts, row.Part{Named: p.named, MS: ms})
		out.Floor += ms
	}
	out.Ours = v.Value
	if b.mean != nil {
		out.Ours, out.Mean = b.mean(s), true
	}
	if len(out.Missing) > 0 || math.IsNaN(out.Ours) {
		return row.Bound{Missing: out.Missing, Parts: out.Parts}
	}
	out.FloorRatio, out.Above = out.Floor/v.Other, out.Ours/out.Floor
	return out
}

// bounds shows what the targets that are not met are bound by.
func bounds(w io.Writer, s *row.Set) {
	all := Bounds(s)
	if len(all) == 0 {
		return
	}
	fmt.Fprint(w, `
## What bounds the rows that are not met

A floor is the sum of its parts, each measured alone in this run; "at the floor" is what the ratio would be there. A floor of
means is held to our mean. Of calls that are made at once it is the processor time of all of them, through the cores.

| work | ours | ratio | target | floor | at the floor | its parts | ours / floor | beside |
|---|--:|--:|--:|--:|--:|---|--:|---|
`)
	for _, b := range all {
		ours, floor, at, above := number(b.Ours), "–", "–", "–"
		if b.Mean {
			ours += " (mean)"
		}
		if b.Floor > 0 {
			floor, at, above = number(b.Floor), fmt.Sprintf("%.2f", b.FloorRatio), fmt.Sprintf("%.2f", b.Above)
		}
		parts := listed(b.Parts)
		switch {
		case len(b.Missing) > 0:
			parts += "; not measured: " + strings.Join(b.Missing, ", ")
		case len(b.Parts) == 0:
			parts = "no floor of it is measured"
		}
		fmt.Fprintf(w, "| %s | %s | %.2f | %s | %s | %s | %s | %s | %s |\n", b.Work, ours, b.Ratio, b.Wanted, floor, at, strings.TrimPrefix(parts, "; "), above, listed(b.Beside))
	}
}

func listed(parts []row.Part) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Named + " " + number(p.MS)
		if p.Ratio > 0 {
			texts[i] += fmt.Sprintf(" (ours is %.2f of it)", p.Ratio)
		}
	}
	return strings.Join(texts, "; ")
}

package search

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// literals are texts of which every match holds at least one, as they are
// written or, with fold, in some case.
type literals struct {
	texts []string // none: nothing is known
	fold  bool
}

// More texts than this take longer to look for than the expression itself.
const mostTexts = 16

func literalsOf(re *syntax.Regexp) literals {
	x := extractor{}
	got := x.of(re)
	l := literals{fold: x.fold, texts: got.needed}
	if got.exact != nil {
		l.texts = best(l.texts, got.exact)
	}
	if x.fold {
		for i, t := range l.texts {
			l.texts[i] = strings.ToLower(t)
		}
	}
	return l
}

// hold reports whether every one of the texts holds s.
func (l literals) hold(s string) bool {
	return len(l.texts) > 0 && !slices.ContainsFunc(l.texts, func(t string) bool { return !strings.Contains(t, s) })
}

// part is what is known about a part of an expression.
type part struct {
	exact  []string // it matches these and nothing else, where it matches; nil: it may match anything
	needed []string // it matches nothing without one of these; nil: not known
}

// extractor walks an expression.
type extractor struct{ fold bool }

func (x *extractor) of(re *syntax.Regexp) part {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return part{exact: []string{""}}
	case syntax.OpLiteral:
		x.fold = x.fold || re.Flags&syntax.FoldCase != 0
		return part{exact: []string{string(re.Rune)}}
	case syntax.OpCharClass:
		return class(re.Rune)
	case syntax.OpCapture:
		return x.of(re.Sub[0])
	case syntax.OpPlus:
		return part{needed: x.of(re.Sub[0]).any()}
	case syntax.OpRepeat:
		if got := x.of(re.Sub[0]); re.Min > 0 {
			return part{needed: got.any()}
		}
	case syntax.OpQuest:
		if got := x.of(re.Sub[0]); got.exact != nil && len(got.exact) < mostTexts {
			return part{exact: append(got.exact, "")}
		}
	case syntax.OpStar:
		x.of(re.Sub[0]) // it may say that case does not matter
	case syntax.OpConcat:
		return x.concat(re.Sub)
	case syntax.OpAlternate:
		return x.alternate(re.Sub)
	}
	return part{}
}

// class is a few characters, each a text of its own.
func class(ranges []rune) part {
	var chars []string
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if chars = append(chars, string(r)); len(chars) > 4 {
				return part{}
			}
		}
	}
	return part{exact: chars}
}

// any is a text of which there must be one.
func (p part) any() []string {
	if p.exact != nil {
		return best(p.needed, p.exact)
	}
	return p.needed
}

// concat multiplies what stands side by side for as long as it is known.
func (x *extractor) concat(subs []*syntax.Regexp) part {
	run, whole := []string{""}, true
	var needed []string
	for _, sub := range subs {
		got := x.of(sub)
		if got.exact != nil && len(run)*len(got.exact) <= mostTexts {
			run = product(run, got.exact)
			continue
		}
		whole = false
		needed = best(best(needed, run), got.any())
		run = []string{""}
		if got.exact != nil {
			run = got.exact
		}
	}
	if whole {
		return part{exact: run, needed: needed}
	}
	return part{needed: best(needed, run)}
}

func product(heads, tails []string) []string {
	out := make([]string, 0, len(heads)*len(tails))
	for _, h := range heads {
		for _, t := range tails {
			out = append(out, h+t)
		}
	}
	return out
}

func (x *extractor) alternate(subs []*syntax.Regexp) part {
	exact, needed := []string{}, []string{}
	for _, sub := range subs {
		got := x.of(sub)
		if one := got.any(); one == nil || len(needed)+len(one) > mostTexts {
			needed = nil
		} else if needed != nil {
			needed = append(needed, one...)
		}
		if got.exact == nil || len(exact)+len(got.exact) > mostTexts {
			exact = nil
		} else if exact != nil {
			exact = append(exact, got.exact...)
		}
	}
	if len(exact) == 0 {
		exact = nil
	}
	return part{exact: exact, needed: needed}
}

// best is whichever of two sets is easier to look for.
func best(a, b []string) []string {
	if score(b) > score(a) {
		return b
	}
	return a
}

// score is higher for long texts and few of them; 0 is of no use.
func score(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	shortest := len(texts[0])
	for _, t := range texts {
		shortest = min(shortest, len(t))
	}
	return shortest*mostTexts + mostTexts - len(texts)*min(shortest, 1)
}

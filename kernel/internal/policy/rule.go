package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
)

// Rule is one policy block.
type Rule struct {
	// Name is the label of the block.
	Name   string
	Match  Match
	Action Action
	// Source is where the block stands, such as "agent.hcl:12,1-20".
	Source string
}

func (r Rule) String() string {
	if r.Source == "" {
		return fmt.Sprintf("policy %q", r.Name)
	}
	return fmt.Sprintf("policy %q (%s)", r.Name, r.Source)
}

// fit is how far a rule is about a call.
type fit int

const (
	none fit = iota
	// possible: the call may turn out to be one. That is enough for a rule that restricts.
	possible
	certain
)

// compiled is a rule whose patterns have been read.
type compiled struct {
	Rule
	command   []Command
	arguments map[string]Glob
}

func compile(r Rule) (compiled, error) {
	c := compiled{Rule: r, arguments: map[string]Glob{}}
	for _, text := range r.Match.Command {
		p, err := ParseCommand(text)
		if err != nil {
			return c, fmt.Errorf("%s: command pattern %q: %w", r, text, err)
		}
		c.command = append(c.command, p)
	}
	for name, text := range r.Match.Arguments {
		g, err := ParseGlob(text)
		if err != nil {
			return c, fmt.Errorf("%s: glob %q: %w", r, text, err)
		}
		c.arguments[name] = g
	}
	return c, nil
}

// judge compares a rule with a call, whose script has been read if it has one.
func (r *compiled) judge(c Call, s *script) (fit, string) {
	if ok, why := r.Match.about(c); !ok {
		return none, why
	}
	fits, why := certain, ""
	for _, name := range slices.Sorted(maps.Keys(r.arguments)) {
		one, w := r.arguments[name].compare(name, c)
		if one == possible && r.Action == Allow {
			w = fmt.Sprintf("not all of %s is for certain in %q", name, r.arguments[name].source)
		}
		fits, why = weaker(fits, why, one, w)
	}
	if len(r.command) > 0 {
		one, w := compareCommand(r.command, s)
		if one == possible && r.Action == Allow {
			_, w = surelyCovered(r.command, s)
		}
		fits, why = weaker(fits, why, one, w)
		if w := besides(c); fits == certain && w != "" {
			fits, why = possible, w
		}
	}
	return fits, why
}

// besides are other arguments by which a command is not all that runs, or runs on.
func besides(c Call) string {
	args := c.Arguments.GetFields()
	switch {
	case args["background"].GetBoolValue() || args["on_timeout"].GetStringValue() == "background":
		return "it is, or may be, left in the background"
	case args["stdin"].GetStringValue() != "":
		return "it is given text to read, which may be more commands"
	case len(args["env"].GetStructValue().GetFields()) > 0:
		return "it sets variables"
	}
	return ""
}

func weaker(f fit, why string, g fit, other string) (fit, string) {
	if g < f {
		return g, other
	}
	return f, why
}

// compare compares the values of an argument with the glob: all of them must be covered to be certain.
func (g Glob) compare(name string, c Call) (fit, string) {
	values, whole := valuesOf(c.Arguments, name)
	sure := whole
	for _, v := range values {
		sure = sure && g.covers(name, v, c.Place)
	}
	if sure {
		return certain, ""
	}
	last := lastOf(name)
	for _, v := range append(values, anywhere(structpb.NewStructValue(c.Arguments), last)...) {
		if g.mayCover(last, v, c.Place) {
			return possible, fmt.Sprintf("%s %q is, or may be, in %q", name, clip(v), g.source)
		}
	}
	if len(values) == 0 {
		return none, fmt.Sprintf("the call has no text argument %q", name)
	}
	return none, fmt.Sprintf("%s %s is not in %q", name, clip(quoteAll(values)), g.source)
}

func quoteAll(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = fmt.Sprintf("%q", v)
	}
	return strings.Join(quoted, ", ")
}

// Package policy decides whether a call may run, must be asked about, or is refused: rules and a call go in, a decision
// that says which rule made it, and why no other, comes out. All that it looks at besides is where links lead.
//
// The most specific rule that is about a call decides, by the tuple (command, arguments, tool_name, provider, risk,
// kind). Of rules that are equally specific the strictest does: deny, then ask, then allow.
//
// command and arguments are patterns, and what they are compared with can be written in many ways. In doubt the answer
// is the careful one:
//
//   - a rule covers a call when that is certain: every simple command of the script is one of its patterns, word by
//     word, and there is nothing else in it; every value of the argument, with . and .. resolved, is in its glob, and
//     so is what links in it lead to;
//   - a rule that asks or denies also holds for what may turn out to be covered: one such command anywhere in the
//     script, behind sudo or in $(…); one such value, behind a link, in upper or lower case, or for "path" in any
//     argument that is a path. It can then only make the decision of the rules that are certain stricter, and only where it is as
//     specific as they are.
//
// What decides what runs is not changed by the way: a call with a path of one of these files is asked about, whatever
// allows it, unless that names the file.
//
// No list of what is denied holds a program that wants to get past it: an interpreter can do anything. Allow what is
// known, and let the rest be asked about.
package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// Decision is what is to be done with a call.
type Decision struct {
	Action Action
	// By names the rule that decided, or the default that applied.
	By string
	// Rule is the rule that decided; nil when a default did.
	Rule *Rule
	// Why says what made the rule hold for a call that it is not certain to be about.
	Why string
	// Warning is set when a rule could not be followed to the letter.
	Warning string
}

// Judged is what became of one rule.
type Judged struct {
	Rule Rule
	// Won says that the rule decided.
	Won bool
	// Why says why the rule did not, or what made it hold; empty when it simply matches.
	Why string
}

// Ranked are the rules, those that outrank others first.
func (s *Set) Ranked() []Rule {
	ranked := slices.Clone(s.rules)
	slices.SortStableFunc(ranked, func(a, b compiled) int {
		return cmp.Or(cmp.Compare(b.Match.specificity(), a.Match.specificity()), cmp.Compare(b.Action, a.Action))
	})
	rules := make([]Rule, len(ranked))
	for i, r := range ranked {
		rules[i] = r.Rule
	}
	return rules
}

// Set is a set of rules without contradiction. The zero value has no rules.
type Set struct{ rules []compiled }

// New checks rules against each other. Rules that match the same calls with different actions are a conflict; every
// conflict is in the error.
func New(rules []Rule) (*Set, error) {
	s := &Set{}
	var errs []error
	same := map[string][]Rule{} // by what they match
	for _, a := range rules {
		if a.Action < Allow || a.Action > Deny {
			errs = append(errs, fmt.Errorf("%s has no action: use allow, ask or deny", a))
		}
		c, err := compile(a)
		if err != nil {
			errs = append(errs, err)
		}
		s.rules = append(s.rules, c)
		key := a.Match.Key()
		for _, b := range same[key] {
			if a.Action != b.Action {
				errs = append(errs, fmt.Errorf("%s says %s and %s says %s about the same calls: remove one or make one more specific",
					b, b.Action, a, a.Action))
			}
		}
		same[key] = append(same[key], a)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return s, nil
}

// Warning is about a rule that says another thing than its author may have meant.
type Warning struct {
	// Summary is what the policy does, as in "matches everything"; Text is a sentence of its own.
	Summary, Text string
}

// Warnings are about the rules, in their order.
func (s *Set) Warnings() []Warning {
	var warnings []Warning
	for _, r := range s.rules {
		if r.Match.everything() {
			warnings = append(warnings, Warning{"matches everything",
				fmt.Sprintf("%s has an empty match: it says %s to every call no other policy matches", r, r.Action)})
		}
		for _, p := range r.command {
			if p.Everything() {
				warnings = append(warnings, Warning{"matches everything",
					fmt.Sprintf("%s matches every command: it says %s to whatever a shell is asked to run", r, r.Action)})
			}
		}
		if r.Action == Ask && r.Match.Kind == toolv1.ToolKind_TOOL_KIND_DATA_SOURCE {
			warnings = append(warnings, Warning{"can only deny",
				fmt.Sprintf("%s asks about what only reads, which has no plan to approve: such a call is denied; say allow or deny", r)})
		}
	}
	return warnings
}

// Decide finds the rule that decides on a call. Without one a data source or an interactive operation is allowed and
// everything else, an unknown kind included, is asked about.
func (s *Set) Decide(c Call) Decision {
	d, _ := s.Explain(c)
	return d
}

// Explain is Decide, with what became of every rule, in their order.
func (s *Set) Explain(c Call) (Decision, []Judged) {
	judged := make([]Judged, len(s.rules))
	fits := make([]fit, len(s.rules))
	var script *script
	if text, ok := c.Arguments.GetFields()["command"].GetKind().(*structpb.Value_StringValue); ok && s.readsCommands() {
		script = readScript(text.StringValue)
	}
	for i := range s.rules {
		judged[i].Rule = s.rules[i].Rule
		fits[i], judged[i].Why = s.rules[i].judge(c, script)
	}
	winner := s.winner(fits, c)
	for i := range judged {
		judged[i].Won = i == winner
		if winner >= 0 && i != winner && (fits[i] == certain || fits[i] == possible && s.rules[i].Action != Allow) {
			judged[i].Why = s.lost(i, winner)
		}
	}
	if file := s.beyond(winner, c); file != "" {
		judged[winner].Won = false
		judged[winner].Why = fmt.Sprintf("it matches, but does not name %q, which decides what runs", clip(file))
		return Decision{Action: Ask, By: fmt.Sprintf("default: changes of files that decide what runs are asked about, here %q", clip(file))}, judged
	}
	d := s.decision(winner, c)
	if winner >= 0 {
		d.Why = judged[winner].Why
	}
	return d, judged
}

func (s *Set) readsCommands() bool {
	return slices.ContainsFunc(s.rules, func(r compiled) bool { return len(r.command) > 0 })
}

// winner is the index of the rule that decides, or -1.
func (s *Set) winner(fits []fit, c Call) int {
	best := -1
	for i := range s.rules {
		if fits[i] == certain && (best < 0 || s.outranks(i, best)) {
			best = i
		}
	}
	// What is only possible can make the decision stricter, by a rule that is as specific.
	action, least := byDefault(c), 0
	if best >= 0 {
		action, least = s.rules[best].Action, s.rules[best].Match.specificity()
	}
	for i, r := range s.rules {
		if fits[i] != possible || r.Match.specificity() < least || r.Action < action {
			continue
		}
		if r.Action > action || best < 0 && action != Allow {
			best, action = i, r.Action
		}
	}
	return best
}

// outranks orders rules that both match: by what they are about, then by what they say.
func (s *Set) outranks(i, j int) bool {
	a, b := s.rules[i], s.rules[j]
	if x, y := a.Match.specificity(), b.Match.specificity(); x != y {
		return x > y
	}
	return a.Action > b.Action
}

// lost says why a rule that holds for a call did not decide.
func (s *Set) lost(i, winner int) string {
	a, b := s.rules[i], s.rules[winner]
	switch x, y := a.Match.specificity(), b.Match.specificity(); {
	case x < y:
		return fmt.Sprintf("it matches, but policy %q is more specific", b.Name)
	case a.Action == b.Action:
		return fmt.Sprintf("it matches, and says the same as policy %q", b.Name)
	case x > y:
		return fmt.Sprintf("it may match, but policy %q is certain to and no less strict", b.Name)
	default:
		return fmt.Sprintf("it matches, but policy %q is as specific and stricter", b.Name)
	}
}

// byDefault is what holds without a rule.
func byDefault(c Call) Action {
	if free(c) {
		return Allow
	}
	return Ask
}

// FreeByDefault is who decides about a call that changes nothing, when no rule does.
const FreeByDefault = "default: reading and asking are allowed"

// free calls change nothing.
func free(c Call) bool {
	return c.Kind == toolv1.ToolKind_TOOL_KIND_DATA_SOURCE || c.Kind == toolv1.ToolKind_TOOL_KIND_INTERACTIVE
}

func (s *Set) decision(winner int, c Call) Decision {
	switch {
	case winner < 0 && free(c):
		return Decision{Action: Allow, By: FreeByDefault}
	case winner < 0:
		return Decision{Action: Ask, By: "default: changes are asked about"}
	}
	best := s.rules[winner].Rule
	d := Decision{Action: best.Action, By: best.String(), Rule: &best}
	if best.Action == Ask && free(c) {
		d.Action = Deny
		d.Warning = fmt.Sprintf("%s says ask about %s.%s, which changes nothing and so has no plan to approve: it is denied; say allow or deny",
			best, c.Provider, c.Operation)
	}
	return d
}

// Package policy decides whether a call may run, must be asked about, or is refused. It is pure: rules and a call go
// in, a decision that says which rule made it comes out.
package policy

import (
	"errors"
	"fmt"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// Action is what a rule says about the calls it matches.
type Action int

// The actions, from the most permissive to the least.
const (
	Allow Action = iota + 1
	Ask
	Deny
)

// String is the action as agent.hcl spells it.
func (a Action) String() string {
	switch a {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	case Deny:
		return "deny"
	default:
		return fmt.Sprintf("Action(%d)", int(a))
	}
}

// ParseAction reads an action as agent.hcl spells it.
func ParseAction(s string) (Action, error) {
	for _, a := range []Action{Allow, Ask, Deny} {
		if a.String() == s {
			return a, nil
		}
	}
	return 0, fmt.Errorf("%q is not an action: use allow, ask or deny", s)
}

// Match says which calls a rule is about. A zero field matches any value.
type Match struct {
	// ToolName is the name of a tool or a command.
	ToolName string
	Provider string
	Risk     toolv1.RiskClass
	// Kind is RESOURCE or DATA_SOURCE.
	Kind toolv1.ToolKind
}

func (m Match) matches(c Call) bool {
	return (m.ToolName == "" || m.ToolName == c.Operation) &&
		(m.Provider == "" || m.Provider == c.Provider) &&
		(m.Risk == 0 || m.Risk == c.Risk) &&
		(m.Kind == 0 || m.Kind == c.Kind)
}

// specificity orders rules by the tuple (tool_name, provider, risk, kind): a field to the left outweighs all to its
// right together.
func (m Match) specificity() int {
	n := 0
	for _, set := range []bool{m.ToolName != "", m.Provider != "", m.Risk != 0, m.Kind != 0} {
		n <<= 1
		if set {
			n |= 1
		}
	}
	return n
}

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

// Call is what a decision depends on.
type Call struct {
	Provider  string
	Operation string
	Kind      toolv1.ToolKind
	Risk      toolv1.RiskClass
}

// Decision is what is to be done with a call.
type Decision struct {
	Action Action
	// By names the rule that decided, or the default that applied.
	By string
	// Warning is set when a rule could not be followed to the letter.
	Warning string
}

// Set is a set of rules without contradiction. The zero value has no rules.
type Set struct{ rules []Rule }

// New checks rules against each other. Rules that match the same calls with different actions are a conflict; every
// conflict is in the error.
func New(rules []Rule) (*Set, error) {
	var errs []error
	for i, a := range rules {
		if a.Action < Allow || a.Action > Deny {
			errs = append(errs, fmt.Errorf("%s has no action: use allow, ask or deny", a))
		}
		for _, b := range rules[:i] {
			if a.Match == b.Match && a.Action != b.Action {
				errs = append(errs, fmt.Errorf("%s says %s and %s says %s about the same calls: remove one or make one more specific",
					b, b.Action, a, a.Action))
			}
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return &Set{rules: rules}, nil
}

// Warnings names rules that say more than their author may have meant.
func (s *Set) Warnings() []string {
	var warnings []string
	for _, r := range s.rules {
		if r.Match == (Match{}) {
			warnings = append(warnings, fmt.Sprintf("%s has an empty match: it says %s to every call no other policy matches", r, r.Action))
		}
	}
	return warnings
}

// Decide finds the most specific rule that matches. Without one a data source or an interactive operation is allowed
// and everything else, an unknown kind included, is asked about.
func (s *Set) Decide(c Call) Decision {
	var best *Rule
	for i, r := range s.rules {
		if r.Match.matches(c) && (best == nil || r.Match.specificity() > best.Match.specificity()) {
			best = &s.rules[i]
		}
	}
	free := c.Kind == toolv1.ToolKind_TOOL_KIND_DATA_SOURCE || c.Kind == toolv1.ToolKind_TOOL_KIND_INTERACTIVE
	switch {
	case best == nil && free:
		return Decision{Action: Allow, By: "default: reading and asking are allowed"}
	case best == nil:
		return Decision{Action: Ask, By: "default: changes are asked about"}
	case best.Action == Ask && free:
		return Decision{Action: Deny, By: best.String(), Warning: fmt.Sprintf(
			"%s says ask about %s.%s, which changes nothing and so has no plan to approve: it is denied; say allow or deny",
			best, c.Provider, c.Operation)}
	default:
		return Decision{Action: best.Action, By: best.String()}
	}
}

package policy

import "fmt"

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

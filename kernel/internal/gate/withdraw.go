package gate

import "slices"

// Withdraw denies a call of the plan before anybody is asked about it, whatever the policy says.
func (p *Plan) Withdraw(i int, by, reason string) {
	p.open = slices.DeleteFunc(p.open, func(open int) bool { return open == i })
	p.verdicts[i] = Verdict{By: by, Reason: reason}
}

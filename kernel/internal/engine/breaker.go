package engine

import (
	"fmt"

	"github.com/agentco/agent/kernel/internal/gate"
)

// BreakerName is what decides about a call that the circuit breaker does not let through.
const BreakerName = "circuit breaker"

// circuit is what the breaker knows the operation of a call by.
func (c *call) circuit() string {
	return c.request.Operation.Provider + " " + c.request.Operation.String()
}

// interrupt takes a call out of the plan when its circuit is open. What the policy denies is denied as it says.
func (c *call) interrupt(plan *gate.Plan, i int) {
	verdict, decided := plan.Decided(i)
	if decided && !verdict.Allowed {
		return
	}
	if why := c.turn.session.breaker.Open(c.circuit(), decided); why != "" {
		plan.Withdraw(i, BreakerName, fmt.Sprintf("%s was not run: %s", c.outcome.Operation, why))
	}
}

// strike tells the breaker how the call ended, before anybody else learns of it. Another call can well be within the fence.
func (c *call) strike() {
	breaker := &c.turn.session.breaker
	switch o := c.outcome; {
	case o.Status == Denied && o.DecidedBy != BreakerName && !c.outside:
		breaker.Denied(c.circuit())
	case o.Status == Crashed:
		breaker.Crashed(c.circuit(), c.crash)
	case o.Attempts > 0 && (o.Status == Completed || o.Status == Failed):
		breaker.Ran(c.circuit())
	}
}

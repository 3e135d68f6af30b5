package schedule

import "time"

// DefaultTimeout is the deadline of a call that nobody set one for.
const DefaultTimeout = 2 * time.Minute

// Timeout is how long a call may run: as long as the caller says, else the configuration, else the operation itself,
// else two minutes. Zero, or less, says nothing.
func Timeout(call, config, operation time.Duration) time.Duration {
	for _, d := range []time.Duration{call, config, operation} {
		if d > 0 {
			return d
		}
	}
	return DefaultTimeout
}

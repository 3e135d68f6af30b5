package sdktest

import (
	"testing"
	"time"
)

// SetPatience changes for one test how long is waited for what has to happen.
func SetPatience(t testing.TB, d time.Duration) {
	before := patience
	patience = d
	t.Cleanup(func() { patience = before })
}

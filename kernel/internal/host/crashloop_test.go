package host

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCrashLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loop crashLoop
		broken := func() error { return loop.broken("fixture", time.Now()) }
		for range crashLimit {
			require.NoError(t, broken())
			loop.add(time.Now(), "exit status 3\nand more")
			time.Sleep(10 * time.Second)
		}
		require.EqualError(t, broken(), `provider "fixture" died or did not start 3 times within 1m0s (last: exit status 3) `+
			`and is left alone for another 30s: its log says what it died of`)
		time.Sleep(30 * time.Second)
		require.Error(t, broken(), "not a moment too early")
		time.Sleep(time.Nanosecond)
		require.NoError(t, broken(), "the first is a minute ago")
		loop.add(time.Now(), "signal: killed")
		require.ErrorContains(t, broken(), "another 10s", "it has one try every now and then")
		time.Sleep(time.Hour)
		require.NoError(t, broken())
		require.Empty(t, loop.crashes)
	})
}

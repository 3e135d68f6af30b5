//go:build unix

package cli

import (
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// overtakeTime bounds the wait for a signal to ourselves, which takes microseconds.
const overtakeTime = time.Second

// awaitSignals returns when the signals have arrived that the system has for this process. It sends itself one more, which
// comes behind them: those of a lower number come first, and nobody minds this one.
func awaitSignals() {
	last := make(chan os.Signal, 1)
	signal.Notify(last, unix.SIGWINCH)
	defer signal.Stop(last)
	if unix.Kill(os.Getpid(), unix.SIGWINCH) != nil {
		return
	}
	select {
	case <-last:
	case <-time.After(overtakeTime):
	}
}

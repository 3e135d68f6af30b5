//go:build unix

package lineedit

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// watchSize tells when the terminal gets another size, until stop is called.
func watchSize() (resized <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, unix.SIGWINCH)
	return c, func() { signal.Stop(c) }
}

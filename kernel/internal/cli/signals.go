package cli

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// doublePress is how soon a second Ctrl-C means that patience is over.
const doublePress = 2 * time.Second

// killSwitch is what a second Ctrl-C does: nothing to kill yet means that the process itself has to go.
type killSwitch struct {
	mu  sync.Mutex
	hit func()
}

func (k *killSwitch) set(hit func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.hit = hit
}

func (k *killSwitch) press() {
	k.mu.Lock()
	hit := k.hit
	k.mu.Unlock()
	if hit == nil {
		os.Exit(exitCancelled)
	}
	hit()
}

// watchSignals cancels on the first Ctrl-C, on SIGTERM and when the terminal is closed, and kills on a second Ctrl-C
// soon after one.
func (a *app) watchSignals() (stop func()) {
	signals := make(chan os.Signal, 4)
	done := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup(1) has it
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		var last time.Time
		for {
			select {
			case <-done:
				return
			case sig := <-signals:
				if sig == os.Interrupt && !last.IsZero() && time.Since(last) < doublePress {
					a.kill.press()
					continue
				}
				note := "cancelling"
				if sig == os.Interrupt {
					last = time.Now()
					note += "; press Ctrl-C again to kill"
				}
				a.display.Note(a.display.ErrPainter().Dim(note))
				a.cancel(errInterrupted)
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

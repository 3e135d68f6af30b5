package cli

import (
	"log/slog"
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
// soon after one. It watches until the process ends: a signal that comes late must not change the exit code.
func (a *app) watchSignals() {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup(1) has it
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		var last time.Time
		for sig := range signals {
			switch {
			case sig != os.Interrupt:
				a.interrupt("cancelling")
			case !last.IsZero() && time.Since(last) < doublePress:
				a.killAll()
			default:
				last = time.Now()
				a.interrupt("cancelling; press Ctrl-C again to kill")
			}
		}
	}()
}

func (a *app) interrupt(note string) {
	a.display.Note(a.display.ErrPainter().Dim(note))
	a.cancel(errInterrupted)
}

// killAll says itself what happens: that providers ended in the middle of calls is no news then.
func (a *app) killAll() {
	if a.logLevel.Level() > slog.LevelDebug {
		a.logLevel.Set(slog.LevelError + 1)
	}
	a.display.Note(a.display.ErrPainter().Dim("killing"))
	a.kill.press()
}

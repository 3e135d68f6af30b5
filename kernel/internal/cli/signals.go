package cli

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// doublePress is how soon a second Ctrl-C means that patience is over.
const doublePress = 2 * time.Second

// onePress is how close to each other two signals are the same Ctrl-C. A terminal interrupts a whole group, and whoever runs
// us in it may well pass the signal on: npm does, and timeout(1) by itself sends two.
const onePress = 50 * time.Millisecond

// killSwitch is what Ctrl-C does. The first cancels: the program, or what a shell has in the foreground. A second soon
// after it kills: nothing to kill yet means that the process itself has to go.
type killSwitch struct {
	mu    sync.Mutex
	hit   func()
	front *foreground
	over  bool      // what was called has ended
	last  time.Time // of a first Ctrl-C
	heard time.Time // the last signal that is no echo
	// settling takes what is to be closed when all signals up to now have been heard; nil when nobody listens.
	settling chan chan<- struct{}
}

// foreground is one thing of many that a process does, and what Ctrl-C is for as long as it lasts.
type foreground struct {
	cancel context.CancelCauseFunc
	// quiet is set when there is nothing to kill, and nothing to say.
	quiet bool
	// note is what is said when it is cancelled; empty for the usual.
	note string
}

// unheard is something that Ctrl-C does nothing to.
func unheard() *foreground { return &foreground{cancel: func(error) {}, quiet: true} }

func (k *killSwitch) set(hit func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.hit = hit
}

// bring puts something into the foreground, until back is called. No Ctrl-C has been pressed for it yet.
func (k *killSwitch) bring(front *foreground) (back func()) {
	before := k.swap(front)
	return func() { k.swap(before) }
}

// ended says that what was called has ended, but for what is to be shown of it: in a shell there is nothing to kill any more
// that is this call's.
func (k *killSwitch) ended() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	if k.front != nil {
		k.front = &foreground{cancel: k.front.cancel, quiet: true}
	}
}

func (k *killSwitch) current() *foreground {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.front
}

// goesOn reports whether something is in the foreground and has not ended.
func (k *killSwitch) goesOn(front *foreground) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.front == front && !k.over
}

// lend leaves Ctrl-C to another program, until back is called: whatever was pressed by then was for that, also when it is
// heard of later, and what was pressed before was not.
func (k *killSwitch) lend() (back func()) {
	k.settle()
	end := k.bring(unheard())
	return func() {
		k.settle()
		end()
	}
}

// settle returns when all signals that the process has been sent were heard.
func (k *killSwitch) settle() {
	if k.settling == nil {
		return
	}
	awaitSignals()
	heard := make(chan struct{})
	k.settling <- heard
	<-heard
}

func (k *killSwitch) swap(front *foreground) (before *foreground) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before = k.front
	k.front, k.over, k.last = front, false, time.Time{}
	return before
}

// echo reports whether a signal is that of a Ctrl-C that was heard already.
func (k *killSwitch) echo(now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.heard.IsZero() && now.Sub(k.heard) < onePress {
		return true
	}
	k.heard = now
	return false
}

// anew says that what comes next is no echo of what came before.
func (k *killSwitch) anew() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.heard = time.Time{}
}

// pressed notes a Ctrl-C, and says whether it is the second, and what is in the foreground.
func (k *killSwitch) pressed(now time.Time) (again bool, front *foreground) {
	k.mu.Lock()
	defer k.mu.Unlock()
	again = !k.last.IsZero() && now.Sub(k.last) < doublePress
	if !again {
		k.last = now
	}
	return again, k.front
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
	settling := make(chan chan<- struct{})
	a.kill.settling = settling
	go func() {
		for {
			select {
			case sig := <-signals:
				a.hear(sig)
			case heard := <-settling:
				for len(signals) > 0 {
					a.hear(<-signals)
				}
				close(heard)
			}
		}
	}()
}

func (a *app) hear(sig os.Signal) {
	if sig != os.Interrupt {
		if a.ctx.Err() == nil {
			a.interrupt(a.kill.current(), "cancelling", a.cancel)
			go a.leaveWhenStuck()
		}
		return
	}
	if a.kill.echo(time.Now()) {
		return
	}
	switch again, front := a.kill.pressed(time.Now()); {
	case front != nil && front.quiet:
		front.cancel(errInterrupted)
	case again:
		a.killAll()
	case front != nil:
		a.interrupt(front, cmp.Or(front.note, cancelling), front.cancel)
	default:
		if a.ctx.Err() != nil { // whoever reads through a pager has had the time for it
			go a.leaveWhenStuck()
		}
		a.interrupt(nil, cancelling, a.cancel)
	}
}

const cancelling = "cancelling; press Ctrl-C again to kill"

// interrupt says what it does, and cancels, however long the terminal takes for what comes before that, or for the note.
func (a *app) interrupt(front *foreground, note string, cancel context.CancelCauseFunc) {
	do := sync.OnceFunc(func() { cancel(errInterrupted) })
	a.say(func() {
		a.display.NoteAround(do, func() bool { return a.kill.goesOn(front) }, a.display.ErrPainter().Dim(note))
	})
	do()
}

// killAll says itself what happens: that providers ended in the middle of calls is no news then.
func (a *app) killAll() {
	if a.logLevel.Level() > slog.LevelDebug {
		a.logLevel.Set(slog.LevelError + 1)
	}
	a.say(func() { a.display.Note(a.display.ErrPainter().Dim("killing")) })
	go a.leaveWhenStuck()
	a.kill.press()
}

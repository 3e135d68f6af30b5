package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentco/agent/bench/internal/proc"
	"github.com/agentco/agent/bench/internal/row"
	"github.com/agentco/agent/bench/internal/subject"
)

// cancellations are scripts that are cancelled, and how many sleeps of each have to run before.
var cancellations = []struct {
	op, script string
	sleeps     int
}{
	{"cancel_group", "sleep MARK1 & sleep MARK2", 2},
	{"cancel_setsid", "setsid sleep MARK5 & sleep MARK6", 2},
}

// cancels measures from the moment a call is cancelled until nothing lives that it started.
func (s *Suite) cancels(ctx context.Context) {
	for _, c := range cancellations {
		if !s.wants(c.op) || ctx.Err() != nil {
			continue
		}
		s.progress.say(s.Say, c.op)
		for _, x := range slices.Clone(s.subjects) {
			if x.Can(c.op) && ctx.Err() == nil {
				s.cancel(ctx, x, c.op, c.script, c.sleeps)
			}
		}
		s.keep()
	}
}

func (s *Suite) cancel(ctx context.Context, x subject.Subject, op, script string, sleeps int) {
	r := &row.Row{Subject: x.Name(), Op: op, Status: row.OK}
	load := proc.Now()
	var took []float64
	for i := range max(4, int(12*s.Scale)) {
		mark := fmt.Sprintf("7%07d%d", time.Now().UnixNano()/1000%10000000, i%10)
		d, err := s.cancelOnce(ctx, x, op, strings.ReplaceAll(script, "MARK", mark), mark, sleeps)
		for _, p := range proc.Marked(mark) {
			p.Kill()
		}
		if err != nil {
			r.Note, r.Status = err.Error(), row.Failed
			if d > 0 {
				r.Status, took = row.Never, nil
			}
			break
		}
		took = append(took, subject.Milliseconds(d))
	}
	r.Fill(took)
	r.Foreign = load.Foreign()
	if note := s.about(x.Name(), op); note != "" && r.Note == "" {
		r.Note = note
	} else if note != "" {
		r.Note += "; " + note
	}
	if ctx.Err() == nil {
		s.progress.passed(time.Duration(float64(cancelEach) * min(1, s.Scale+0.3)))
		s.add(r)
	}
	if e, ok := x.(interface{ Ended() bool }); ok && r.Status != row.OK && ctx.Err() == nil && (e.Ended() || r.Status == row.Failed) {
		s.revive(ctx, x)
	}
}

// cancelOnce starts a script, cancels it when its sleeps run, and says how long something of it lived. An error with a
// duration is that something did not end.
func (s *Suite) cancelOnce(ctx context.Context, x subject.Subject, op, script, mark string, sleeps int) (time.Duration, error) {
	calling, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	var how error
	go func() {
		defer close(ended)
		_, how = x.Batch(calling, op, subject.Batch{N: 1, Vars: s.Vars.With("cmd", script, "streams", "yes")})
	}()
	for begun := time.Now(); running(mark) < sleeps; time.Sleep(2 * time.Millisecond) {
		select {
		case <-ended:
			return 0, errors.Join(errors.New("the call ended by itself"), how)
		default:
		}
		if time.Since(begun) > time.Minute {
			return 0, fmt.Errorf("the sleeps did not start")
		}
	}
	time.Sleep(20 * time.Millisecond) // all of them are in their sleep
	living := proc.Marked(mark)
	begun := time.Now()
	cancel()
	for anyAlive(living) {
		if time.Since(begun) > s.Patience {
			return s.Patience, fmt.Errorf("after %s %d of its processes live", s.Patience, running(mark))
		}
		time.Sleep(100 * time.Microsecond)
	}
	took := time.Since(begun)
	select {
	case <-ended:
	case <-time.After(s.Patience):
		return 0, fmt.Errorf("the call did not return")
	}
	if left := running(mark); left > 0 {
		return took, fmt.Errorf("%d processes came after", left)
	}
	return took, nil
}

// running counts the marked sleeps that have begun.
func running(mark string) (n int) {
	for _, p := range proc.Marked(mark) {
		if strings.HasPrefix(proc.CommandLine(p.PID), "sleep ") {
			n++
		}
	}
	return n
}

func anyAlive(all []proc.ID) bool {
	for _, p := range all {
		if p.Alive() {
			return true
		}
	}
	return false
}

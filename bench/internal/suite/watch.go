package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agentco/agent/bench/internal/subject"
)

// What the last call of a batch may take over the limit, and what a subject then has to give up in.
const (
	lastCall = 60 * time.Second
	givingUp = 20 * time.Second
)

// mostOf is what a batch may take: the last call of it longer where much passes, down to 10 MB/s.
func mostOf(limit time.Duration, bytes int) time.Duration {
	return limit + lastCall + time.Duration(bytes/10e6)*time.Second
}

// watched carries out a batch. A subject that is too slow is cancelled, and one that does not heed that is ended; it, and
// one that ended by itself, is started anew for what comes after. So nothing waits for ever, and nothing that was given up
// runs on beside what is measured next.
func (s *Suite) watched(ctx context.Context, x subject.Subject, op string, b subject.Batch, most time.Duration) (subject.Samples, error) {
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	type outcome struct {
		samples subject.Samples
		err     error
	}
	done := make(chan outcome, 1)
	go func() {
		samples, err := x.Batch(limited, op, b)
		done <- outcome{samples, err}
	}()
	var got outcome
	select {
	case got = <-done:
	case <-time.After(most + givingUp):
		got.err = errors.New("it does not answer, and was ended")
	}
	if got.err == nil || ctx.Err() != nil {
		return got.samples, got.err
	}
	if limited.Err() != nil {
		got.err = fmt.Errorf("over %s: %w", most, got.err)
	}
	if e, ok := x.(interface{ Ended() bool }); ok && (limited.Err() != nil || e.Ended()) {
		s.revive(ctx, x)
	}
	return got.samples, got.err
}

// revive ends a subject and starts it anew. One that does not start again is left out from then on.
func (s *Suite) revive(ctx context.Context, x subject.Subject) {
	i, p := slices.Index(s.subjects, x), s.peer(x.Name())
	x.Close()
	if i < 0 || p == nil {
		return
	}
	starting, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	again, err := p.Dial(starting, s.Vars)
	if err != nil {
		s.subjects = slices.Delete(s.subjects, i, i+1)
		s.skip(p.Name, "it ended, and did not start again: "+subject.Cut(err.Error(), 200))
		return
	}
	s.Say("started anew: " + p.Name)
	s.subjects[i] = again
}

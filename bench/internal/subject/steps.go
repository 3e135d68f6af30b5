package subject

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync/atomic"
	"time"
)

// caller makes the calls that steps are.
type caller interface {
	// call makes one; out, which may be nil, is given output that comes before the answer.
	call(ctx context.Context, s *Step, vars Vars, out func(string)) (answer func() string, err error)
}

// batch carries out the steps of an operation.
func batch(ctx context.Context, c caller, op *Op, b Batch) (Samples, error) {
	for i := range op.Before {
		if _, err := c.call(ctx, &op.Before[i], b.Vars.Repetition(b.From), nil); err != nil {
			return Samples{}, fmt.Errorf("before it: %w", err)
		}
	}
	return repeat(ctx, b, func(ctx context.Context, vars Vars) (answered, error) {
		vars["call"] = fmt.Sprint("call-", calls.Add(1))
		for i := range op.Between {
			if _, err := c.call(ctx, &op.Between[i], vars, nil); err != nil {
				return answered{}, fmt.Errorf("between: %w", err)
			}
		}
		if op.Cancel != nil {
			return answered{}, killed(ctx, c, op, vars)
		}
		begun := time.Now()
		a, err := steps(ctx, c, op, vars)
		a.took = time.Since(begun)
		return a, err
	})
}

// calls numbers the calls of all subjects.
var calls atomic.Int64

// steps makes the calls of an operation.
func steps(ctx context.Context, c caller, op *Op, vars Vars) (a answered, err error) {
	begun := time.Now()
	out := func(text string) {
		if len(text) > 0 && a.first == 0 && (vars["first"] == "" || regexp.MustCompile(vars["first"]).MatchString(text)) {
			a.first = time.Since(begun)
		}
		a.output += len(text)
	}
	if vars["streams"] == "" {
		out = nil
	}
	for i := range op.Steps {
		if a.text, err = step(ctx, c, &op.Steps[i], vars, out); err != nil {
			return a, err
		}
		if out != nil && a.first == 0 { // nothing came before the answer
			out(a.text())
		}
	}
	return a, nil
}

// killed makes the calls of an operation, and when ctx ends asks the peer by its own tool to end what they began.
func killed(ctx context.Context, c caller, op *Op, vars Vars) error {
	asking, giveUp := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer giveUp()
	begun, ended := vars.With(), make(chan error, 1)
	go func() {
		_, err := steps(asking, c, op, begun)
		ended <- err
	}()
	select {
	case err := <-ended: // it began something in the background, and what that is called is among begun
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-asking.Done():
			return errors.New("nobody cancelled it")
		}
		_, err = step(asking, c, op.Cancel, begun, nil)
		return err
	case <-ctx.Done():
	}
	if _, err := step(asking, c, op.Cancel, vars, nil); err != nil {
		return err
	}
	if err := <-ended; errors.Is(err, context.DeadlineExceeded) { // else how it ends is its own affair
		return fmt.Errorf("the call did not return: %w", err)
	}
	return nil
}

// step makes a call until it has what it wants.
func step(ctx context.Context, c caller, s *Step, vars Vars, out func(string)) (func() string, error) {
	for {
		answer, err := c.call(ctx, s, vars, out)
		if err != nil {
			return nil, err
		}
		for name, pattern := range s.Capture {
			found := regexp.MustCompile(pattern).FindStringSubmatch(answer())
			if found == nil {
				return nil, fmt.Errorf("%q is not in %q", pattern, Cut(answer(), 200))
			}
			vars[name] = found[1]
		}
		if s.Until == "" || regexp.MustCompile(s.Until).MatchString(answer()) {
			return answer, nil
		}
		select {
		case <-time.After(s.pause()):
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), fmt.Errorf("%s: %q never came", s.Tool, s.Until))
		}
	}
}

// Cut shortens a text that is shown.
func Cut(text string, n int) string {
	if len(text) > n {
		return text[:n] + "…"
	}
	return text
}

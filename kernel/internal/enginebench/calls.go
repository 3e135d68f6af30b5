package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/engine"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

func (b *bench) answer(ctx context.Context, r request) answer {
	a := answer{ID: r.ID}
	var err error
	switch {
	case r.Start > 0:
		a.TookMS, err = b.starts(ctx, r)
	case r.Log > 0:
		a.TookMS, a.Session, err = b.log(ctx, r)
	case b.engine == nil:
		err = b.logged(ctx, r, &a)
	default:
		err = b.calls(ctx, r, &a)
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

// lookup finds PROVIDER.TOOL or /COMMAND.
func (b *bench) lookup(name string) (engine.Operation, error) {
	if strings.HasPrefix(name, "/") {
		return b.session.LookupCommand(name)
	}
	provider, tool, _ := strings.Cut(name, ".")
	return b.session.Lookup(provider, tool)
}

// calls makes the calls of a request.
func (b *bench) calls(ctx context.Context, r request, a *answer) error {
	op, err := b.lookup(r.Operation)
	if err != nil {
		return err
	}
	s := b.session
	if r.Dir != "" {
		s = b.begin(r.Dir)
	}
	arguments := repetitions(r.Arguments)
	return r.repeat(a, func(i int) (call, error) {
		with, err := arguments(i)
		if err != nil {
			return call{}, err
		}
		return one(ctx, s, op, with)
	})
}

// repeat does something N times in all, by so many workers, until the limit of the request is over or it fails.
func (r request) repeat(a *answer, one func(i int) (call, error)) error {
	var (
		mu    sync.Mutex
		next  atomic.Int64
		work  sync.WaitGroup
		fails []error
		begun = time.Now()
		limit = time.Duration(r.LimitMS) * time.Millisecond
	)
	for range max(1, r.Workers) {
		work.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= max(1, r.N) || limit > 0 && i > 0 && time.Since(begun) > limit {
					return
				}
				c, err := one(r.From + i)
				mu.Lock()
				a.add(c)
				if err != nil {
					fails = append(fails, err)
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	work.Wait()
	return errors.Join(fails...)
}

// call is what one call took and brought.
type call struct {
	took, first time.Duration
	output      int
	result      *structpb.Struct
}

func (a *answer) add(c call) {
	if c.result == nil {
		return
	}
	a.TookMS = append(a.TookMS, milliseconds(c.took))
	if c.first > 0 {
		a.FirstMS = append(a.FirstMS, milliseconds(c.first))
	}
	a.Output = c.output
	if len(a.TookMS) == 1 { // of the others it would be the same, and cost the more
		a.Result, _ = c.result.MarshalJSON()
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func one(ctx context.Context, s *engine.Session, op engine.Operation, arguments *structpb.Struct) (c call, err error) {
	begun := time.Now()
	o := s.Invoke(ctx, engine.Request{Operation: op, Arguments: arguments}, func(e *toolv1.ToolEvent) {
		if chunk := e.GetOutputChunk(); chunk != nil {
			if c.first == 0 {
				c.first = time.Since(begun)
			}
			c.output += len(chunk.GetData())
		}
	})
	c.took, c.result = time.Since(begun), o.Result
	if o.Status != engine.Completed {
		return c, fmt.Errorf("%s: %s", op.Name, o.Error.GetMessage())
	}
	return c, nil
}

// repetitions gives the arguments of each. They are decoded once where they are the same: others run meanwhile, and whoever
// calls an engine has them decoded.
func repetitions(arguments json.RawMessage) func(i int) (*structpb.Struct, error) {
	if bytes.Contains(arguments, []byte("${")) {
		return func(i int) (*structpb.Struct, error) { return repetition(arguments, i) }
	}
	s, err := repetition(arguments, 0)
	return func(int) (*structpb.Struct, error) { return s, err }
}

// repetition puts the number of a repetition into arguments.
func repetition(arguments json.RawMessage, i int) (*structpb.Struct, error) {
	text := strings.NewReplacer("${i}", strconv.Itoa(i), "${next}", strconv.Itoa(i+1)).Replace(string(arguments))
	s := &structpb.Struct{}
	if text == "" {
		return s, nil
	}
	return s, s.UnmarshalJSON([]byte(text))
}

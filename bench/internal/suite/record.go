package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agentco/agent/bench/internal/bare"
	"github.com/agentco/agent/bench/internal/subject"
)

// recorder is a subject whose answers can be had as they are on the wire.
type recorder interface {
	Record(ctx context.Context, op string, b subject.Batch) (json.RawMessage, error)
}

// record keeps, for the subjects that answer as another does, one answer of that one to an operation.
func (s *Suite) record(ctx context.Context, o op) error {
	for _, p := range s.Peers {
		if p.Same == "" || p.Ops[asOp(o.name)] == nil {
			continue
		}
		result, err := s.answerOf(ctx, p.Same, o)
		if err == nil {
			err = s.keepAnswer(asOp(o.name), result)
		}
		if err != nil {
			return fmt.Errorf("an answer of %s cannot be recorded: %w", p.Same, err)
		}
	}
	return nil
}

// answerOf makes one call of a subject, as it would be measured.
func (s *Suite) answerOf(ctx context.Context, name string, o op) (json.RawMessage, error) {
	for _, x := range s.subjects {
		from, ok := x.(recorder)
		if !ok || x.Name() != name {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, lastCall)
		defer cancel()
		b := subject.Batch{Vars: s.vars(name, o)}
		if err := (&turn{subject: x}).own(limited, o, &b, s.work()); err != nil {
			return nil, err
		}
		return from.Record(limited, asOp(o.name), b)
	}
	return nil, errors.New("it does not run")
}

// recordTools keeps the lists of tools in the same way, before starts are measured.
func (s *Suite) recordTools(ctx context.Context) {
	for _, p := range s.Peers {
		if p.Same == "" {
			continue
		}
		tools, err := s.peer(p.Same).RecordTools(ctx, s.Vars)
		if err == nil {
			err = s.keepAnswer(bare.List, tools)
		}
		if err != nil {
			s.Say(fmt.Sprintf("the tools of %s cannot be recorded: %v", p.Same, err)) // its start fails for that
		}
	}
}

// keepAnswer writes an answer to where cmd/floormcp looks for it.
func (s *Suite) keepAnswer(name string, answer []byte) error {
	return os.WriteFile(filepath.Join(s.Vars["answers"], name+".json"), answer, 0o644)
}

// forgetAnswers drops those of earlier runs, so that none of them is given in this one.
func (s *Suite) forgetAnswers() error {
	if err := os.MkdirAll(s.Vars["answers"], 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(s.Vars["answers"], "*.json"))
	for _, file := range old {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

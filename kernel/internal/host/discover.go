package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agentco/agent/kernel/internal/schema"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

const (
	// schemaTimeout is generous: the answers are cheap and need no network.
	schemaTimeout = 10 * time.Second
	// configureTimeout lets a provider open what it needs, a remote service among it.
	configureTimeout = 60 * time.Second
)

// discover asks the process for every category there is, all at once. It serves those that it answers for.
func (l *life) discover(ctx context.Context, provider string) (discovery, error) {
	ctx, cancel := context.WithTimeout(ctx, schemaTimeout)
	defer cancel()
	possible := []category{newTools(l.conn), newCommands(l.conn)}
	served := make([]bool, len(possible))
	var said Introduction
	group, ctx := errgroup.WithContext(ctx)
	for i, c := range possible {
		group.Go(func() (err error) {
			served[i], err = ask(ctx, c, &said)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return discovery{}, l.orEnding(err)
	}
	for i, c := range possible {
		if served[i] {
			l.serves = append(l.serves, c)
		}
	}
	return said.read(provider)
}

// ask has one category introduce itself. It reports whether the provider serves it.
func ask(ctx context.Context, c category, said *Introduction) (served bool, err error) {
	err = c.offer(ctx, said)
	if absent(err) {
		return false, nil
	}
	if err != nil {
		return false, unanswered(fmt.Sprintf("it did not say what it offers as %s", c.id()), schemaTimeout, err)
	}
	producer, err := c.describe(ctx, said)
	if err != nil && !absent(err) {
		return false, unanswered(fmt.Sprintf("it did not identify itself as %s", c.id()), schemaTimeout, err)
	}
	if v := producer.GetProtocolVersion(); v > 1 {
		return false, fmt.Errorf("it speaks version %d of %s and this kernel speaks version 1: install a version of the provider made for it", v, c.id())
	}
	return true, nil
}

// unanswered says which question failed, and of one without an answer how long it was waited for.
func unanswered(what string, limit time.Duration, err error) error {
	if status.Code(err) == codes.DeadlineExceeded {
		return fmt.Errorf("%s: there was no answer within %s", what, limit)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// longestName is how long the name of a tool may be that every client takes.
const longestName = 64

// nameable reports whether every client takes a name for a tool: letters, digits, _ and -.
func nameable(name string) bool {
	for i := range len(name) {
		c := name[i]
		if letter := c | 0x20; (letter < 'a' || letter > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return 0 < len(name) && len(name) <= longestName
}

// check refuses a provider whose word cannot be relied on: the gate decides by kind and risk.
func check(d discovery) error {
	var errs []error
	seen := map[string]bool{}
	for _, o := range d.operations {
		if err := checkOperation(o); err != nil {
			errs = append(errs, fmt.Errorf("operation %s: %w", quoted(o.Name), err))
		}
		if seen[o.String()] {
			errs = append(errs, fmt.Errorf("operation %s is offered twice", quoted(o.Name)))
		}
		seen[o.String()] = true
	}
	for _, config := range d.configs {
		if len(config.GetAttributes()) > 0 && !proto.Equal(config, d.config) {
			errs = append(errs, errors.New("its categories have different config schemas, and one block must serve both"))
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("what it offers breaks the protocol, which its author has to correct: %w", errors.Join(errs...))
	}
	return nil
}

func checkOperation(o Operation) error {
	if !nameable(o.Name) {
		return errors.New("the name must be 1 to 64 letters, digits, _ or -")
	}
	if err := schema.WellFormed(o.Input); err != nil {
		return fmt.Errorf("its input_schema: %w", err)
	}
	if err := schema.WellFormed(o.Output); err != nil {
		return fmt.Errorf("its output_schema: %w", err)
	}
	return checkKind(o)
}

func checkKind(o Operation) error {
	switch o.Kind {
	case toolv1.ToolKind_TOOL_KIND_DATA_SOURCE, toolv1.ToolKind_TOOL_KIND_INTERACTIVE:
		if o.Risk != toolv1.RiskClass_RISK_CLASS_READ_ONLY {
			return fmt.Errorf("%s must have risk RISK_CLASS_READ_ONLY, not %s", o.Kind, o.Risk)
		}
	case toolv1.ToolKind_TOOL_KIND_RESOURCE:
		if o.Risk < toolv1.RiskClass_RISK_CLASS_LOW || o.Risk > toolv1.RiskClass_RISK_CLASS_CRITICAL {
			return fmt.Errorf("%s must have a risk from low to critical, not %s", o.Kind, o.Risk)
		}
	default:
		return fmt.Errorf("there is no kind %s", o.Kind)
	}
	return nil
}

// configure hands the configuration to every category the process serves.
func (l *life) configure(ctx context.Context, spec Spec, config *structpb.Struct) *StartError {
	ctx, cancel := context.WithTimeout(ctx, configureTimeout)
	defer cancel()
	for _, c := range l.serves {
		err := c.configure(ctx, config)
		if err == nil {
			continue
		}
		failed := spec.failure(StageConfigure, l.orEnding(unanswered("it was not configured", configureTimeout, err)))
		if failed.Rejection = rejection(err); failed.Rejection != nil {
			failed.Cause = errors.New(cmp.Or(failed.Rejection.GetMessage(), "it refuses its configuration and does not say why"))
		}
		return failed
	}
	return nil
}

// orEnding replaces the error of a connection that broke by the end of the process that broke it.
func (l *life) orEnding(err error) error {
	if !lost(err) && !l.leaving.Load() {
		return err
	}
	select {
	case <-l.process.ended:
		return fmt.Errorf("it ended (%s) while it was being started", l.process.ending())
	case <-time.After(crashPatience):
		return err
	}
}

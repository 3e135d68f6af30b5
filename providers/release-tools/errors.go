package main

import (
	"errors"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/agentco/agent/sdk"
)

// explain gives a refusal its category. Its kind goes along in the details, for callers that tell refusals apart.
func explain(err error) error {
	r, ok := errors.AsType[*refusal.Error](err)
	if !ok {
		return err
	}
	var e *sdk.Error
	switch r.Class {
	case refusal.Invalid:
		e = sdk.InvalidArgument(r.Argument, "%s", r.Message)
	case refusal.NotFound:
		e = sdk.NotFound("%s", r.Message)
	case refusal.Denied:
		e = sdk.Denied("%s", r.Message)
	default:
		e = sdk.Failed("%s", r.Message)
	}
	e.Err = r
	return e.With("kind", r.Kind)
}

// badField says the same of the provider's configuration.
func badField(err error) error {
	if r, ok := errors.AsType[*refusal.Error](err); ok {
		return sdk.BadField(r.Argument, "%s", r.Message)
	}
	return err
}

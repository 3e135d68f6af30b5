package registry

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/signature"
)

// Query is what is wanted of a source.
type Query struct {
	Source     config.Source
	Constraint config.Constraint
	// Key must have signed the checksums file; nil asks for no signature.
	Key signature.Key
	// Platform is the one the release is for: a newer release that lists an archive for it but does not have it
	// yet is passed over. The zero Platform is that of this process.
	Platform Platform
}

func (q Query) platform() Platform {
	if q.Platform == (Platform{}) {
		return Here()
	}
	return q.Platform
}

// Resolve finds the newest complete release that the constraint allows. A newer one that is incomplete is passed
// over with a warning, unless the constraint pins it. Errors are of type *Error.
func (c *Client) Resolve(ctx context.Context, q Query) (*Release, error) {
	if exact := q.Constraint.Exact(); exact != nil {
		if !q.Constraint.Allows(exact) {
			return nil, &Error{Code: NoMatchingVersion, Attempted: "choose a version of " + q.Source.String(),
				Reason: fmt.Sprintf("no version at all can satisfy %q", q.Constraint), Advice: "Its terms exclude each other"}
		}
		return c.Pinned(ctx, q, exact.String())
	}
	return c.inTurn(ctx, q, func(s supplier) (*Release, error) {
		all, err := s.list(ctx, q.Source)
		if err != nil {
			return nil, err
		}
		return c.newest(ctx, q, s, all)
	})
}

// Pinned finds the release of exactly one version, such as 1.2.3; the constraint is not looked at.
func (c *Client) Pinned(ctx context.Context, q Query, version string) (*Release, error) {
	return c.inTurn(ctx, q, func(s supplier) (*Release, error) {
		p, err := s.pinned(ctx, q.Source, version)
		// GitLab answers 403 when there is no such release.
		if code := CodeOf(err); !s.mirror() && (code == NotFound || code == AccessDenied) {
			return nil, c.noSuchVersion(ctx, q, s, version, err)
		}
		if err != nil {
			return nil, err
		}
		if p.draft {
			return nil, noMatch(q.Source, fmt.Sprintf("v%s is not released yet", version), listing{})
		}
		r, missing, err := c.complete(ctx, q, s, version, p)
		if err == nil && missing != nil {
			err = missing
		}
		if err != nil {
			return nil, err
		}
		r.Reason = "the version asked for"
		return r, nil
	})
}

// inTurn asks one supplier after the other. Only a mirror that does not have what is wanted leads to the next.
func (c *Client) inTurn(ctx context.Context, q Query, ask func(supplier) (*Release, error)) (*Release, error) {
	all := c.suppliers(q.Source)
	for i, s := range all {
		r, err := ask(s)
		if err == nil {
			return r, nil
		}
		if missing := s.mirror() && absent(err); !missing || i == len(all)-1 {
			return nil, withoutDirect(err, missing, len(all))
		}
	}
	return nil, &Error{Code: NotFound, Attempted: "find " + q.Source.String(), Reason: "there is nowhere to look for it"}
}

// absent reports that a mirror works and does not have what is wanted: the source, a version, or one for the platform.
func absent(err error) bool {
	code := CodeOf(err)
	return code == NotFound || code == NoMatchingVersion || code == NoAsset
}

// withoutDirect adds what would let the forge be asked.
func withoutDirect(err error, missing bool, suppliers int) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || !missing || suppliers > 1 {
		return err
	}
	said := *e
	said.Advice = joined(said.Advice, "Its forge was not asked: that needs a direct block in registry_mirror of config.hcl")
	return &said
}

// noSuchVersion says which versions there are when one that was asked for is not.
func (c *Client) noSuchVersion(ctx context.Context, q Query, s supplier, version string, cause error) error {
	all, err := s.list(ctx, q.Source)
	if err != nil {
		return err
	}
	e := noMatch(q.Source, fmt.Sprintf("there is no release v%s", version), all)
	e.Err = cause
	return e
}

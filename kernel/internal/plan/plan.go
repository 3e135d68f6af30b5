// Package plan keeps what was shown to somebody, so that it can be applied later: exactly as it was shown, once, or not
// at all.
//
//	Plan ── Encode ──► file ── Decode ──► Plan ── Changes(fresh) ──► nothing, or what makes it stale
//	                                        └─── Store.Claim ──► Record of what ran, or that it had been applied
//
// It knows no providers: whoever applies a plan makes a fresh one of the same calls, and compares.
package plan

import (
	"errors"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"
	"google.golang.org/protobuf/encoding/protojson"

	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
)

// Plan is a list of calls with what was decided about them, and what they would do as far as their providers could say.
type Plan struct {
	// ID is a ULID, so that no two plans are the same.
	ID     string    `json:"id"`
	MadeAt time.Time `json:"made_at"`
	// Project is the folder of agent.hcl, WorkingDir the one that paths in arguments are read against.
	Project    string `json:"project"`
	WorkingDir string `json:"working_dir"`
	// Source is the list that the calls come from.
	Source Source `json:"source"`
	// Policy stands for the policies, Config for the whole of agent.hcl.
	Policy string `json:"policy"`
	Config string `json:"config"`
	// Profile is the agent_profile that the plan was made under; it may be empty.
	Profile   string     `json:"profile,omitempty"`
	Providers []Provider `json:"providers"`
	Calls     []Call     `json:"calls"`
}

// Source is where a list of calls was read.
type Source struct {
	// File is its absolute path; empty when it came from stdin.
	File   string `json:"file,omitempty"`
	Digest string `json:"digest"`
}

// Provider is a binary that calls of the plan go to.
type Provider struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Checksum string `json:"checksum"`
}

// Call is one call of a plan.
type Call struct {
	// Name is unique in the plan.
	Name string `json:"name"`
	// After are the names of the calls that must have come to a good end first.
	After []string `json:"after,omitempty"`
	// TimeoutMS is the deadline in milliseconds; zero when the list has none.
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
	// Item is the call as it was shown. Its decision is that of the policy.
	Item Item `json:"item"`
	// Digest stands for the call, its arguments and preview, the provider and the policy: what an approval is bound to.
	Digest string `json:"digest"`
}

// Timeout is the deadline of the call; zero when the list has none.
func (c Call) Timeout() time.Duration { return time.Duration(c.TimeoutMS) * time.Millisecond }

// Item is a PlanItem that is protojson within JSON.
type Item struct{ *planv1.PlanItem }

// MarshalJSON writes the item with the field names of the protocol.
func (i Item) MarshalJSON() ([]byte, error) {
	return protojson.MarshalOptions{UseProtoNames: true}.Marshal(i.PlanItem)
}

// UnmarshalJSON reads an item.
func (i *Item) UnmarshalJSON(text []byte) error {
	i.PlanItem = &planv1.PlanItem{}
	return protojson.Unmarshal(text, i.PlanItem)
}

// Seal sets the digest of every call. It is the last thing that is done to a plan before it is encoded or compared.
func (p *Plan) Seal() error {
	for i := range p.Calls {
		digest, err := p.digest(p.Calls[i])
		if err != nil {
			return err
		}
		p.Calls[i].Digest = digest
	}
	return nil
}

// digest is what an approval of a call is bound to.
func (p *Plan) digest(c Call) (string, error) {
	parts := struct {
		Call      Call
		Project   [2]string
		Policy    string
		Config    string
		Providers []Provider
	}{c, [2]string{p.Project, p.WorkingDir}, p.Policy, p.Config, nil}
	parts.Call.Digest = ""
	parts.Call.Item = Item{shownOf(c.Item.PlanItem)}
	for _, provider := range p.Providers {
		if provider.Name == c.Item.GetProvider() {
			parts.Providers = append(parts.Providers, provider)
		}
	}
	text, err := canonical(parts)
	if err != nil {
		return "", err
	}
	return Digest(text), nil
}

// check finds what no plan of ours has, whatever its digests say.
func (p *Plan) check() error {
	if id, err := ulid.ParseStrict(p.ID); err != nil || id.String() != p.ID {
		return fmt.Errorf("its id %q is none", p.ID)
	}
	if len(p.Calls) == 0 {
		return errors.New("it has no calls")
	}
	names := map[string]bool{}
	for _, c := range p.Calls {
		if c.Name == "" || names[c.Name] {
			return fmt.Errorf("a call has no name, or that of another: %q", c.Name)
		}
		for _, after := range c.After {
			if !names[after] {
				return fmt.Errorf("call %q comes after %q, which does not stand before it", c.Name, after)
			}
		}
		names[c.Name] = true
		digest, err := p.digest(c)
		if err != nil || digest != c.Digest {
			return errors.Join(err, fmt.Errorf("call %q is not what was approved", c.Name))
		}
	}
	return nil
}

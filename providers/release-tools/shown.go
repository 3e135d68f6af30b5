package main

import (
	"fmt"
	"sync"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/agentco/agent/providers/release-tools/internal/release"
)

// mostRemembered is how many previews are remembered: those of calls that were declined are never asked for.
const mostRemembered = 64

// shown is what previews have come to, by the id of the call, so that the call can be held to it: a person may take hours to
// decide, and others commit meanwhile. The zero value is ready.
type shown struct {
	mu    sync.Mutex
	plans map[string]preview
}

type preview struct{ asked, version, head string }

func (s *shown) remember(id, asked string, plan *release.Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plans == nil || len(s.plans) >= mostRemembered {
		s.plans = map[string]preview{}
	}
	s.plans[id] = preview{asked, plan.Version.String(), plan.Head}
}

// hold refuses a plan that has another version than was shown, as auto may. That HEAD has moved is a warning of the plan's:
// the calls before it may have been approved together with it.
func (s *shown) hold(id, asked string, plan *release.Plan) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	was, found := s.plans[id]
	delete(s.plans, id)
	switch {
	case !found, was.asked != asked: // who was shown it may have asked for another version then
	case was.version != plan.Version.String():
		return refusal.New("changed-since-shown", "auto came to %s when this release was shown, and comes to %s now: ask for it again, or give the version",
			was.version, plan.Version)
	case was.head != plan.Head:
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("HEAD was at %.7s when this release was shown, and is at %.7s now", was.head, plan.Head))
	}
	return nil
}

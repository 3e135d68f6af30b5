package engine

import "github.com/agentco/agent/kernel/internal/host"

// Emission is an event that a provider wants to have kept in a session.
type Emission = host.Emission

// ErrNotKept says that nothing is kept of a session.
var ErrNotKept = host.ErrNotKept

// speak counts a turn of a session, so that what providers emit during it finds its journal; end ends that.
func (e *Engine) speak(s *Session) (end func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.speaking[s.id] = append(e.speaking[s.id], s)
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if rest := e.speaking[s.id][1:]; len(rest) > 0 { // all of them are the same session
			e.speaking[s.id] = rest
		} else {
			delete(e.speaking, s.id)
		}
	}
}

// emitted has an event kept that a provider emits.
func (e *Engine) emitted(m Emission) (id string, sequence int64, err error) {
	e.mu.Lock()
	speaking := e.speaking[m.SessionID]
	e.mu.Unlock()
	if len(speaking) == 0 {
		return "", 0, host.ErrNoSession
	}
	if e.secrets.In(m.Payload) { // a payload is opaque: it cannot be told what would be left of it
		return "", 0, host.ErrSecret
	}
	return speaking[0].journal.Emitted(m)
}

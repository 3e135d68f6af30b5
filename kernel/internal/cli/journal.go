package cli

import (
	"fmt"
	"path/filepath"

	"github.com/adrg/xdg"
	"github.com/oklog/ulid/v2"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/session"
	"github.com/agentco/agent/kernel/internal/session/journal"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
)

// sessionsFolder is where sessions are kept.
func sessionsFolder() session.Folder {
	return session.Folder(filepath.Join(xdg.StateHome, "agent", "sessions"))
}

// session begins a conversation, the way every command does that runs calls: it is kept in a log of its own. end is called
// when its calls are over, with what came of it all.
func (a *app) session(e *engine.Engine, p *project, approver gate.Approver) (s *engine.Session, end func(error), err error) {
	return a.sessionOf(e, p, p.scoped(engine.SessionOptions{Approver: approver}))
}

// sessionOf is session with options of its own; their ID and Journal are made here.
func (a *app) sessionOf(e *engine.Engine, p *project, o engine.SessionOptions) (s *engine.Session, end func(error), err error) {
	o.ID = ulid.Make().String()
	meta := session.Meta{ID: o.ID, Command: a.command, Project: p.Root}
	if p.profile != nil {
		meta.Profile = p.profile.Name
	}
	log, err := session.NewLog(string(sessionsFolder()), meta, a.warn)
	if err != nil {
		return nil, nil, err
	}
	kept := journal.New(log, journal.Options{
		SessionID: o.ID, WorkingDir: p.cwd, Version: a.versionText(), Producers: producersOf(e), Secrets: a.secrets,
		Warn: func(err error) {
			a.warn(fmt.Sprintf("what happens here is not kept: %v. Calls that only read go on; one that changes something would be refused", err))
		},
	})
	o.Journal = kept
	return e.Session(o), func(failure error) {
		if err := kept.Close(statusOf(failure)); err != nil {
			a.warn(fmt.Sprintf("the session log %s was not closed as it should be: %v", log.Path(), err))
		}
	}, nil
}

// producersOf says who answers for the operations of a provider.
func producersOf(e *engine.Engine) func(string) []*commonv1.ProducerRef {
	return func(provider string) []*commonv1.ProducerRef {
		for _, info := range e.Providers() {
			if info.Name == provider {
				return info.Producers
			}
		}
		return nil
	}
}

func statusOf(err error) session.Status {
	switch exitCode(err) {
	case exitDone:
		return session.Completed
	case exitCancelled:
		return session.Cancelled
	case exitDenied:
		return session.Denied
	default:
		return session.Failed
	}
}

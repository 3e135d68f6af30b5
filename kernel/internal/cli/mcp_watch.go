package cli

import (
	"context"
	"os"
	"sync/atomic"
	"time"

	"github.com/agentco/agent/kernel/internal/engine"
)

// liveProject is a project whose agent.hcl may be edited while it is served. The profile is that of the file as it is now;
// everything else is what it was at the start.
type liveProject struct{ current atomic.Pointer[project] }

func follow(p *project) *liveProject {
	live := &liveProject{}
	live.current.Store(p)
	return live
}

func (l *liveProject) sees(op engine.Operation) bool { return l.current.Load().sees(op) }

// scoped limits a session to the profile, whatever that is at the moment.
func (l *liveProject) scoped(o engine.SessionOptions) engine.SessionOptions {
	o.Scope = l.sees
	o.OutOfScope = l.refusal
	return o
}

// refusal says why an operation is not in scope, and what would take it in.
func (l *liveProject) refusal(op engine.Operation) string {
	p := l.current.Load()
	if p.profile == nil {
		return op.String() + " is not in scope any more"
	}
	return p.profile.Refusal(op.Provider, op.Name, op.IsCommand())
}

// glance is how often agent.hcl is looked at.
const glance = time.Second

// watch reads agent.hcl again when it has changed, until ctx is done; changed is called after that.
func (a *app) watch(ctx context.Context, l *liveProject, changed func()) {
	last := stampOf(l.current.Load().File)
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := stampOf(l.current.Load().File)
		if now == last || now == (stamp{}) {
			continue
		}
		last = now
		p, err := a.read()
		if err != nil {
			for _, err := range flatten(err) {
				a.showError(err)
			}
			a.warn("agent.hcl has changed and cannot be read: what it was before is still in force")
			continue
		}
		a.warn("agent.hcl has changed: its profile is in force now, everything else from the next start of this server on")
		l.current.Store(p)
		changed()
	}
}

// stamp tells one state of a file from the next.
type stamp struct {
	changed time.Time
	size    int64
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{} // it is being replaced, or gone: that is told by the next start
	}
	return stamp{info.ModTime(), info.Size()}
}

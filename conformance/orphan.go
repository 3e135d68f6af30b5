package conformance

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/agentco/agent/conformance/client"
	"github.com/agentco/agent/conformance/internal/processes"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// orphanhood is how long a provider and its processes have to end once their kernel is gone.
const orphanhood = 10 * time.Second

// orphan is what became of a provider whose kernel was killed.
type orphan struct {
	err  error
	busy bool // a call was running
	took time.Duration
	left []string
}

// killParent starts the provider below a shell that stands for the kernel, and kills the shell while a call runs. The
// connection and the pipes go with it.
func (s *subject) killParent() (out orphan) {
	r, err := s.configured(func(o *client.Options) {
		o.Args = append([]string{"-c", `"$0" "$@" & wait`, o.Path}, o.Args...)
		o.Path = "/bin/sh"
	})
	if err != nil {
		return orphan{err: err}
	}
	defer r.end()
	children := processes.Children(r.PID())
	if len(children) != 1 {
		return orphan{err: errors.New("the provider is not the child of its parent")}
	}
	out.busy = r.occupy()
	began := time.Now()
	if parent, err := os.FindProcess(r.PID()); err == nil {
		_ = parent.Kill()
	}
	r.Abandon()
	<-r.Process.Exited()
	out.left = awaitGone(children[0], r.place.dir, orphanhood)
	out.took = time.Since(began)
	killAll(processes.Related(children[0], r.place.dir))
	return out
}

// sweep ends what is left of all processes of the provider.
func (s *subject) sweep() { killAll(processes.Touching(s.base)) }

func killAll(pids []int) {
	for _, pid := range pids {
		if left, err := os.FindProcess(pid); err == nil {
			_ = left.Kill()
		}
	}
}

// occupy starts a call that is long enough to be cancelled, if the scenario has one, and waits for its first event.
func (r *running) occupy() bool {
	for _, c := range r.place.situation.Calls {
		op, ok := r.subject.discovery().find(c.Operation)
		if !ok || c.Cancel == nil {
			continue
		}
		begun := make(chan struct{}, 1)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			// The call ends with the connection.
			r.service(op.category).invoke(context.WithoutCancel(r.subject.ctx), op, c.Name, r.call(op, c.Arguments, c.Directory), func(e *toolv1.ToolEvent) {
				if c.Cancel.Event != "output" || e.GetOutputChunk() != nil || e.GetPartialResult() != nil {
					select {
					case begun <- struct{}{}:
					default:
					}
				}
			})
		}()
		select {
		case <-begun:
			return true
		case <-ended:
			return false
		case <-time.After(time.Second):
			return true
		}
	}
	return false
}

package suite

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentco/agent/bench/internal/proc"
	"github.com/agentco/agent/bench/internal/row"
	"github.com/agentco/agent/bench/internal/subject"
)

// How many providers are started, and how long the sessions are.
var (
	providerCounts = []int{1, 3, 5, 10, 20}
	eventCounts    = []int{10, 100, 1000, 10000, 100000}
)

// growth measures what only the engine can be asked for: starts of 1 to 20 providers, and sessions of 10 to 100,000 events.
func (s *Suite) growth(ctx context.Context) {
	for _, x := range s.subjects {
		e, ok := x.(*subject.Engine)
		if !ok || !e.Can("read4k") || s.replays(e.Name()) { // a confined one is like another in this
			continue
		}
		for _, providers := range providerCounts {
			s.ask(ctx, e, fmt.Sprintf("start%d", providers), map[string]any{"start": providers, "n": max(3, int(8*s.Scale))})
		}
		for _, events := range eventCounts {
			name := fmt.Sprintf("log%d", events)
			if !s.wants(name) {
				continue
			}
			reply := s.ask(ctx, e, name, map[string]any{"log": events, "n": max(20, int(100*s.Scale))})
			if reply.Session != "" {
				s.sessionCommands(ctx, events, reply.Session)
			}
		}
	}
}

func (s *Suite) ask(ctx context.Context, e *subject.Engine, name string, request map[string]any) subject.Reply {
	if !s.wants(name) || ctx.Err() != nil {
		return subject.Reply{}
	}
	r := &row.Row{Subject: e.Name(), Op: name, Status: row.OK}
	limited, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	load := proc.Now()
	reply, err := e.Ask(limited, request)
	r.Foreign = load.Foreign()
	if err != nil {
		r.Status, r.Note = row.Failed, subject.Cut(err.Error(), 300)
	}
	r.Fill(reply.TookMS)
	if ctx.Err() == nil {
		s.add(r)
	}
	return reply
}

// sessionCommands times what a person asks of a session of that size.
func (s *Suite) sessionCommands(ctx context.Context, events int, path string) {
	id := strings.TrimSuffix(filepath.Base(path), ".sqlite")
	for _, command := range []string{"show", "verify"} {
		r := &row.Row{Subject: "ours-cli", Op: fmt.Sprintf("%s%d", command, events), Status: row.OK}
		var took []float64
		load := proc.Now()
		for range max(1, int(5*s.Scale)) {
			limited, cancel := context.WithTimeout(ctx, lastCall)
			cmd := exec.CommandContext(limited, filepath.Join(s.Vars["bin"], "agent"), "session", command, id)
			cmd.Dir, cmd.Env, cmd.WaitDelay = s.Vars["fx"], s.Environment(), time.Second
			begun := time.Now()
			out, err := cmd.CombinedOutput()
			cancel()
			if err != nil {
				r.Status, r.Note = row.Failed, subject.Cut(fmt.Sprintf("%v: %s", err, out), 300)
				break
			}
			took = append(took, subject.Milliseconds(time.Since(begun)))
		}
		r.Foreign = load.Foreign()
		r.Fill(took)
		if ctx.Err() == nil {
			s.add(r)
		}
	}
}

// Environment is that of our own command lines.
func (s *Suite) Environment() []string {
	home := s.Vars["home"]
	return []string{"PATH=" + s.Vars["PATH"], "HOME=" + home, "LANG=C.UTF-8", "XDG_CONFIG_HOME=" + home + "/config",
		"XDG_STATE_HOME=" + home + "/state", "XDG_CACHE_HOME=" + home + "/cache", "XDG_DATA_HOME=" + home + "/data"}
}

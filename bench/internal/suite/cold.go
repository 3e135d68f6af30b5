package suite

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/agentco/agent/bench/internal/floor"
	"github.com/agentco/agent/bench/internal/proc"
	"github.com/agentco/agent/bench/internal/row"
	"github.com/agentco/agent/bench/internal/subject"
)

// cold measures starts to the answer of tools/list, and those of a bare provider to its first answer.
func (s *Suite) cold(ctx context.Context) {
	if !s.wants("cold") {
		return
	}
	var turns []*turn
	starts := map[*turn]func(context.Context) (float64, int, error){}
	s.progress.say(s.Say, "cold")
	s.recordTools(ctx)
	add := func(name string, start func(context.Context) (float64, int, error)) {
		t := &turn{row: &row.Row{Subject: name, Op: "cold", Status: row.OK}}
		turns = append(turns, t)
		starts[t] = start
	}
	add(goPlugin, func(ctx context.Context) (float64, int, error) { return coldProvider(ctx, s.Vars) })
	for _, p := range s.Peers {
		if p.Kind == "mcp" || p.Kind == "http" || p.Kind == "rpc" {
			add(p.Name, func(ctx context.Context) (float64, int, error) { return p.Cold(ctx, s.Vars) })
		}
	}
	for i := range 1 + max(6, int(20*s.Scale)) {
		for _, t := range turns {
			if t.failed || ctx.Err() != nil {
				continue
			}
			limited, cancel := context.WithTimeout(ctx, 30*time.Second)
			load := proc.Now()
			took, tools, err := starts[t](limited)
			t.foreign, t.rounds = t.foreign+load.Foreign(), t.rounds+1
			cancel()
			if err != nil {
				t.fail(err)
				continue
			}
			if t.row.Count = tools; i > 0 { // the first one reads the binary from the disk
				t.samples.Took = append(t.samples.Took, took)
			}
		}
	}
	s.progress.passed(s.costOfCold())
	if ctx.Err() != nil {
		return
	}
	for _, t := range turns {
		t.row.Fill(t.samples.Took)
		t.row.Foreign = t.foreign / float64(max(1, t.rounds))
		if p := s.peer(t.row.Subject); p != nil && p.Kind == "rpc" && t.row.Note == "" {
			t.row.Note = "to its first answer: it lists no tools"
		}
		if t.row.Count > 0 {
			t.row.Note = fmt.Sprintf("%d tools", t.row.Count)
		}
		s.add(t.row)
	}
	s.keep()
}

func coldProvider(ctx context.Context, vars subject.Vars) (float64, int, error) {
	begun := time.Now()
	p, err := floor.Start(filepath.Join(vars["bin"], "floorplugin"))
	if err != nil {
		return 0, 0, err
	}
	defer p.Kill()
	_, err = p.Call(ctx, "n")
	return subject.Milliseconds(time.Since(begun)), 0, err
}

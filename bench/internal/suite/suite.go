package suite

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentco/agent/bench/internal/row"
	"github.com/agentco/agent/bench/internal/subject"
)

// Suite is one run.
type Suite struct {
	Vars  subject.Vars
	Peers []*subject.Peer
	// Only are the operations that are measured, as patterns of path.Match, and PeerNames the subjects; empty for all.
	Only, PeerNames []string
	// Refused says of packages why they could not be had, by what Peer calls them.
	Refused map[string]string
	// Before are the rows of an earlier run, for an estimate of how long this one takes; nil for none.
	Before *row.Set
	// Keep is given the rows after each operation; it may be nil.
	Keep func(*row.Set)
	// Scale multiplies repetitions and limits; less than a half is a quick run.
	Scale float64
	// Patience is how long what was cancelled has to end. Default: ten seconds, three in a quick run.
	Patience time.Duration
	Say      func(string)

	rows     *row.Set
	subjects []subject.Subject
	patterns map[string]map[string]*regexp.Regexp // what counts, by subject and operation
	peaks    map[string]held
	progress progress
}

// rounds is how often the subjects take turns at an operation.
const rounds = 3

// Quick reports whether this is a quick run.
func (s *Suite) Quick() bool { return s.Scale < 0.5 }

// Run measures. The set is what there is even when the error is not nil.
func (s *Suite) Run(ctx context.Context) (*row.Set, error) {
	s.rows = &row.Set{
		Started: time.Now().UTC().Format(time.RFC3339), Scale: s.Scale, About: map[string]string{}, Kinds: map[string]string{}, Skipped: map[string]string{},
		Cores: runtime.NumCPU(), Machine: fmt.Sprintf("%d cores, %s", runtime.NumCPU(), strings.ToUpper(runtime.GOOS[:1])+runtime.GOOS[1:]),
	}
	s.patterns, s.peaks = map[string]map[string]*regexp.Regexp{}, map[string]held{}
	if s.Patience == 0 {
		s.Patience = 10 * time.Second
		if s.Quick() {
			s.Patience = 3 * time.Second
		}
	}
	content, err := os.ReadFile(filepath.Join(s.Vars["fx"], "files/1m.txt"))
	if err != nil {
		return s.rows, err
	}
	if err := s.forgetAnswers(); err != nil {
		return s.rows, err
	}
	ops := operations(s.Vars["fx"], string(content))
	s.choose()
	s.plan(ops)
	defer s.close()
	defer func() {
		s.rows.Interrupted = ctx.Err() != nil
		s.keep()
	}()
	s.cold(ctx)
	if err := s.open(ctx); err != nil {
		return s.rows, err
	}
	s.memory("idle", false)
	for _, o := range ops {
		if s.measures(o) && ctx.Err() == nil {
			s.progress.say(s.Say, o.name)
			s.operation(ctx, o)
			s.progress.passed(s.cost(o))
			s.keep()
		}
	}
	s.cancels(ctx)
	s.growth(ctx)
	s.memory("peak", true)
	return s.rows, ctx.Err()
}

func (s *Suite) keep() {
	if s.Keep != nil && len(s.rows.Rows) > 0 {
		s.Keep(s.rows)
	}
}

// close ends all subjects, which takes as long as the slowest.
func (s *Suite) close() {
	var ending sync.WaitGroup
	for _, x := range s.subjects {
		ending.Go(x.Close)
	}
	ending.Wait()
}

func (s *Suite) wants(op string) bool { return len(s.Only) == 0 || s.named(op) }

func (s *Suite) named(op string) bool {
	return slices.ContainsFunc(s.Only, func(pattern string) bool {
		ok, _ := path.Match(pattern, op)
		return ok
	})
}

// measures reports whether an operation is part of this run. What is for whole runs only is left out of a quick one, unless
// it is named.
func (s *Suite) measures(o op) bool {
	return s.wants(o.name) && (!o.whole || !s.Quick() || s.named(o.name))
}

// Huge reports whether the run needs the input of 2 GiB.
func (s *Suite) Huge() bool {
	ops := []string{"line2g", "count2g", "print256mb", "print1024mb"}
	return !s.Quick() || slices.ContainsFunc(ops, s.named)
}

// others are the operations beside those that are timed as they stand.
func others() []string {
	names := []string{"cold", "idle", "peak"}
	for _, c := range cancellations {
		names = append(names, c.op)
	}
	for _, n := range providerCounts {
		names = append(names, fmt.Sprint("start", n))
	}
	for _, n := range eventCounts {
		names = append(names, fmt.Sprint("log", n))
	}
	return names
}

// Check refuses a run of an operation or a peer that there is not.
func (s *Suite) Check() error {
	names := others()
	for _, o := range operations("", "") {
		names = append(names, o.name)
	}
	for _, pattern := range s.Only {
		if !slices.ContainsFunc(names, func(name string) bool { ok, _ := path.Match(pattern, name); return ok }) {
			return fmt.Errorf("there is no operation %q: %s", pattern, strings.Join(names, " "))
		}
	}
	for _, name := range s.PeerNames {
		if s.peer(name) == nil {
			return fmt.Errorf("there is no peer %q in peers.json", name)
		}
	}
	return nil
}

// choose leaves out the peers that are not wanted or cannot be run, and says so.
func (s *Suite) choose() {
	var peers []*subject.Peer
	for _, p := range s.Peers {
		named := slices.Contains(s.PeerNames, p.Name)
		if len(s.PeerNames) > 0 && !named {
			continue
		}
		why := p.Missing(s.Vars)
		switch refused := s.Refused[p.Package+p.Module]; {
		case s.Quick() && !p.Quick && !named:
			why = "not in quick runs"
		case why != "" && refused != "":
			why = "it cannot be had: " + refused
		case why == "" && p.Same != "" && !slices.ContainsFunc(peers, func(of *subject.Peer) bool { return of.Name == p.Same }):
			why = p.Same + ", whose answers it gives, is not measured"
		}
		if why != "" {
			s.skip(p.Name, why)
			continue
		}
		s.rows.About[p.Name], s.rows.Kinds[p.Name] = p.About, p.Kind
		s.patterns[p.Name] = map[string]*regexp.Regexp{}
		for name, o := range p.Ops {
			if o.Count != "" {
				s.patterns[p.Name][name] = regexp.MustCompile(o.Count)
			}
		}
		peers = append(peers, p)
	}
	s.Peers = peers
}

// open starts all subjects. One that does not start is skipped.
func (s *Suite) open(ctx context.Context) error {
	floors, err := floors(s.Vars)
	if err != nil {
		return err
	}
	s.subjects = floors
	for name, about := range floorsAbout {
		s.rows.About[name] = about
	}
	for _, p := range s.Peers {
		if p.Same != "" && s.rows.Skipped[p.Same] != "" {
			s.skip(p.Name, p.Same+", whose answers it gives, did not start")
			continue
		}
		starting, cancel := context.WithTimeout(ctx, 30*time.Second)
		x, err := p.Dial(starting, s.Vars)
		cancel()
		switch {
		case err == nil:
			s.subjects = append(s.subjects, x)
		case ctx.Err() != nil:
			return ctx.Err()
		default:
			s.skip(p.Name, subject.Cut(err.Error(), 300))
		}
	}
	return nil
}

func (s *Suite) skip(name, why string) {
	s.rows.Skipped[name] = why
	s.Say("skipped: " + name + ": " + why)
}

// peer is the entry of a subject in the table; nil for a floor.
func (s *Suite) peer(name string) *subject.Peer {
	for _, p := range s.Peers {
		if p.Name == name {
			return p
		}
	}
	return nil
}

func (s *Suite) add(r *row.Row) {
	s.rows.Rows = append(s.rows.Rows, r)
	s.Say(fmt.Sprintf("%-16s %-20s %-9s n=%-5d p50 %10.3f  p99 %10.3f  foreign %.1f  %s", r.Op, r.Subject, r.Status, r.N, r.P50, r.P99, r.Foreign, r.Note))
}

package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/agentco/agent/bench/internal/proc"
	"github.com/agentco/agent/bench/internal/row"
	"github.com/agentco/agent/bench/internal/subject"
)

// Suite is one run.
type Suite struct {
	Vars  subject.Vars
	Peers []*subject.Peer
	// Only are the operations that are measured, and PeerNames the subjects; empty for all.
	Only, PeerNames []string
	// Scale multiplies repetitions and limits; less than a half is a quick run.
	Scale float64
	// Patience is how long what was cancelled has to end. Default: ten seconds, three in a quick run.
	Patience time.Duration
	Say      func(string)

	rows     *row.Set
	subjects []subject.Subject
	patterns map[string]map[string]*regexp.Regexp // what counts, by subject and operation
}

// rounds is how often the subjects take turns at an operation.
const rounds = 3

// Quick reports whether this is a quick run.
func (s *Suite) Quick() bool { return s.Scale < 0.5 }

// Run measures. The set is what there is even when the error is not nil.
func (s *Suite) Run(ctx context.Context) (*row.Set, error) {
	s.rows = &row.Set{
		Started: time.Now().UTC().Format(time.RFC3339), Scale: s.Scale, About: map[string]string{}, Skipped: map[string]string{},
		Machine: fmt.Sprintf("%d cores, %s", runtime.NumCPU(), strings.ToUpper(runtime.GOOS[:1])+runtime.GOOS[1:]),
	}
	s.patterns = map[string]map[string]*regexp.Regexp{}
	if s.Patience == 0 {
		s.Patience = 10 * time.Second
		if s.Quick() {
			s.Patience = 3 * time.Second
		}
	}
	s.choose()
	ops, err := operations(s.Vars["fx"])
	if err != nil {
		return s.rows, err
	}
	s.cold(ctx)
	if err := s.open(ctx); err != nil {
		return s.rows, err
	}
	defer func() {
		for _, x := range s.subjects {
			x.Close()
		}
	}()
	s.memory("idle", false)
	for _, o := range ops {
		if ctx.Err() != nil {
			return s.rows, ctx.Err()
		}
		if s.wants(o.name) && (!o.whole || !s.Quick()) {
			s.operation(ctx, o)
		}
	}
	s.cancels(ctx)
	s.growth(ctx)
	s.memory("peak", true)
	return s.rows, ctx.Err()
}

func (s *Suite) wants(op string) bool { return len(s.Only) == 0 || slices.Contains(s.Only, op) }

// choose leaves out the peers that are not wanted or cannot be run, and says so.
func (s *Suite) choose() {
	var peers []*subject.Peer
	for _, p := range s.Peers {
		why := p.Missing(s.Vars)
		switch named := slices.Contains(s.PeerNames, p.Name); {
		case len(s.PeerNames) > 0 && !named:
			continue
		case why != "":
		case s.Quick() && !p.Quick && !named:
			why = "not in quick runs"
		}
		if why != "" {
			s.rows.Skipped[p.Name] = why
			s.Say("skipped: " + p.Name + ": " + why)
			continue
		}
		s.rows.About[p.Name] = p.About
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
		starting, cancel := context.WithTimeout(ctx, 30*time.Second)
		x, err := p.Dial(starting, s.Vars)
		cancel()
		if err != nil {
			s.rows.Skipped[p.Name] = subject.Cut(err.Error(), 300)
			s.Say("skipped: " + p.Name + ": " + s.rows.Skipped[p.Name])
			continue
		}
		s.subjects = append(s.subjects, x)
	}
	return nil
}

// turn is a subject's part in an operation.
type turn struct {
	subject subject.Subject
	row     *row.Row
	samples subject.Samples
	path    string
	foreign float64
	rounds  int
	left    int
	failed  bool
}

// operation measures one operation of all subjects that have it.
func (s *Suite) operation(ctx context.Context, o op) {
	var turns []*turn
	for _, x := range s.subjects {
		if x.Can(asOp(o.name)) {
			t := &turn{subject: x, row: &row.Row{Subject: x.Name(), Op: o.name, Status: row.OK}, left: max(rounds, int(float64(o.n)*s.Scale))}
			t.left = min(t.left, s.capOf(x.Name(), asOp(o.name), t.left))
			turns = append(turns, t)
		}
	}
	for range rounds {
		for _, t := range turns {
			if !t.failed && t.left > 0 {
				s.round(ctx, o, t)
			}
		}
	}
	for _, t := range turns {
		s.finish(o, t)
		if t.path != "" {
			_ = os.Remove(t.path)
		}
	}
}

// capOf is how often a peer at most does an operation: once, of what is slow, in a quick run.
func (s *Suite) capOf(peer, name string, n int) int {
	for _, p := range s.Peers {
		if p.Name == peer && p.Ops[name] != nil && p.Ops[name].N > 0 {
			if s.Quick() {
				return 1
			}
			return p.Ops[name].N
		}
	}
	return n
}

// round is a third of a subject's repetitions.
func (s *Suite) round(ctx context.Context, o op, t *turn) {
	limit := time.Duration(float64(o.limit) * min(1, 2*s.Scale) / rounds)
	b := subject.Batch{N: (t.left + rounds - t.rounds - 1) / (rounds - t.rounds), Workers: o.workers, From: t.rounds * 1000000, Limit: limit}
	b.Vars = s.Vars.With("run", t.subject.Name())
	for name, value := range o.vars {
		b.Vars[name] = value
	}
	if o.streams {
		b.Vars["streams"] = "yes"
	}
	if o.file != "" {
		var err error
		if t.path, err = marked(o.file, filepath.Join(s.Vars["fx"], "work"), t.subject.Name(), b.From); err != nil {
			t.failed, t.row.Status, t.row.Note = true, row.Failed, err.Error()
			return
		}
		b.Vars = b.Vars.With("path", t.path, "old", "MARK_${i}_", "new", "MARK_${next}_")
	}
	limited, cancel := context.WithTimeout(ctx, limit+60*time.Second)
	defer cancel()
	load := proc.Now()
	got, err := t.subject.Batch(limited, asOp(o.name), b)
	t.foreign += load.Foreign()
	t.rounds++
	t.left -= len(got.Took)
	if err != nil {
		t.failed, t.row.Status, t.row.Note = true, row.Failed, subject.Cut(err.Error(), 300)
	}
	if err == nil && o.file != "" && strings.HasPrefix(o.name, "edit") {
		t.check(b.From + len(got.Took))
	}
	t.samples.Took = append(t.samples.Took, got.Took...)
	t.samples.First = append(t.samples.First, got.First...)
	t.samples.WireIn += got.WireIn
	t.samples.WireOut += got.WireOut
	t.samples.Text, t.samples.Output = got.Text, got.Output
}

// check sees whether the last edit is in the file.
func (t *turn) check(last int) {
	b, err := os.ReadFile(t.path)
	if err == nil && !strings.Contains(string(b), fmt.Sprintf("MARK_%d_", last)) {
		err = fmt.Errorf("the file is not as its edits make it")
	}
	if err != nil {
		t.failed, t.row.Status, t.row.Note = true, row.Failed, err.Error()
	}
}

// finish makes a row of what was measured.
func (s *Suite) finish(o op, t *turn) {
	r := t.row
	r.Fill(t.samples.Took)
	if o.name == "ttfb" {
		r.Fill(t.samples.First)
	}
	r.Foreign = t.foreign / float64(max(1, t.rounds))
	r.Bytes = len(t.samples.Text)
	if o.streams {
		r.Bytes = t.samples.Output
	}
	if n := len(t.samples.Took); n > 0 {
		r.WireIn, r.WireOut = t.samples.WireIn/n, t.samples.WireOut/n
	}
	if o.bytes > 0 && r.P50 > 0 {
		r.MBps = float64(o.bytes) / r.P50 / 1e3
	}
	if pattern := s.patterns[r.Subject][o.name]; pattern != nil && r.Status == row.OK {
		r.Count = len(pattern.FindAllStringIndex(t.samples.Text, -1))
	}
	if r.Status == row.OK && (r.Count > 0 || s.patterns[r.Subject][o.name] != nil) && r.Count < min(o.count, 1) {
		r.Status, r.Note = row.Failed, "nothing of what was asked for came back"
	} else if r.Status == row.OK && s.patterns[r.Subject][o.name] != nil && r.Count < o.count && !countsOnce[s.patterns[r.Subject][o.name].String()] {
		r.Status, r.Note = row.Truncated, fmt.Sprintf("%d of %d", r.Count, o.count)
	} else if r.Status == row.OK && o.bytes > 0 && r.Bytes < o.bytes*98/100 && !strings.HasPrefix(o.name, "write") && r.Subject != inProcess {
		r.Status, r.Note = row.Truncated, fmt.Sprintf("%d of %d bytes", r.Bytes, o.bytes)
	}
	s.add(r)
}

// countsOnce are patterns of answers that state a number of matches instead of listing them.
var countsOnce = map[string]bool{`"total_matches"`: true}

func (s *Suite) add(r *row.Row) {
	s.rows.Rows = append(s.rows.Rows, r)
	s.Say(fmt.Sprintf("%-16s %-20s %-9s n=%-5d p50 %10.3f  p99 %10.3f  foreign %.1f  %s", r.Op, r.Subject, r.Status, r.N, r.P50, r.P99, r.Foreign, r.Note))
}

// marked copies a file, with a mark in its middle that edits change.
func marked(file, dir, name string, from int) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	middle := len(b) / 2
	middle += strings.IndexByte(string(b[middle:]), '\n') + 1
	text := fmt.Sprintf("%s\tx := MARK_%d_\n%s", b[:middle], from, b[middle:])
	path := filepath.Join(dir, name+"-"+filepath.Base(file))
	return path, os.WriteFile(path, []byte(text), 0o644)
}

// memory takes note of what each subject with a process holds.
func (s *Suite) memory(name string, peak bool) {
	if !s.wants(name) {
		return
	}
	if !peak {
		time.Sleep(1500 * time.Millisecond) // what starts behind has started
	}
	for _, x := range s.subjects {
		if x.PID() == 0 {
			continue
		}
		r := &row.Row{Subject: x.Name(), Op: name, Status: row.OK, N: 1}
		r.MB, r.Parts = proc.Memory(x.PID(), peak)
		if !peak {
			r.ShareMB = proc.Proportional(x.PID())
		}
		r.Note = fmt.Sprintf("%.0f MB", r.MB)
		s.add(r)
	}
}

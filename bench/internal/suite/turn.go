package suite

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentco/agent/bench/internal/inputs"
	"github.com/agentco/agent/bench/internal/proc"
	"github.com/agentco/agent/bench/internal/row"
	"github.com/agentco/agent/bench/internal/subject"
)

// turn is a subject's part in an operation.
type turn struct {
	subject subject.Subject
	row     *row.Row
	samples subject.Samples
	path    string // of its file or repository; empty for none
	foreign float64
	cpu     []float64 // milliseconds of a call, by rounds
	rounds  int
	left    int
	failed  bool
}

func (t *turn) fail(err error) {
	t.failed, t.row.Status, t.row.Note = true, row.Failed, subject.Cut(err.Error(), 300)
}

// operation measures one operation of all subjects that have it. One that is cut short by the end of ctx makes no rows.
func (s *Suite) operation(ctx context.Context, o op) {
	var turns []*turn
	unrecorded := s.record(ctx, o)
	for _, x := range s.subjects {
		if x.Can(asOp(o.name)) {
			t := &turn{subject: x, row: &row.Row{Subject: x.Name(), Op: o.name, Status: row.OK}, left: s.repetitions(x.Name(), o)}
			if p := s.peer(x.Name()); p != nil && p.Same != "" && unrecorded != nil {
				t.fail(unrecorded)
			}
			turns = append(turns, t)
		}
	}
	for range rounds {
		for _, t := range turns {
			if !t.failed && t.left > 0 && ctx.Err() == nil {
				s.round(ctx, o, t)
			}
		}
	}
	for _, t := range turns {
		if ctx.Err() == nil {
			s.finish(o, t)
		}
		if t.path != "" {
			_ = os.RemoveAll(t.path)
		}
	}
}

// repetitions is how often a subject does an operation. What a peer is slow at it does as often as its table says, and once
// in a quick run.
func (s *Suite) repetitions(name string, o op) int {
	n := max(min(rounds, o.n), int(float64(o.n)*s.Scale))
	if p := s.peer(name); p != nil && p.Ops[asOp(o.name)] != nil && p.Ops[asOp(o.name)].N > 0 {
		if s.Quick() {
			return 1
		}
		return min(n, p.Ops[asOp(o.name)].N)
	}
	return n
}

// limit is how long a subject may take for all rounds of an operation, beside the call that runs.
func (s *Suite) limit(o op) time.Duration { return time.Duration(float64(o.limit) * min(1, 2*s.Scale)) }

// round is a third of a subject's repetitions.
func (s *Suite) round(ctx context.Context, o op, t *turn) {
	limit := s.limit(o) / rounds
	b := subject.Batch{N: (t.left + rounds - t.rounds - 1) / (rounds - t.rounds), Workers: o.workers, From: t.rounds * 1000000, Limit: limit}
	b.Vars = s.vars(t.subject.Name(), o)
	if err := t.own(ctx, o, &b, s.work()); err != nil {
		t.fail(err)
		return
	}
	before := s.settle(t.subject)
	load, used := proc.Now(), s.spent(t.subject)
	got, err := s.watched(ctx, t.subject, asOp(o.name), b, mostOf(limit, o.bytes))
	t.cpu = append(t.cpu, perCall(s.spent(t.subject)-used, got))
	t.foreign += load.Foreign()
	t.row.GrewMB = max(t.row.GrewMB, s.rise(t.subject)-before)
	t.rounds++
	t.left -= len(got.Took)
	if err == nil && o.file != "" && strings.HasPrefix(o.name, "edit") && !s.replays(t.subject.Name()) {
		err = t.check(b.From + len(got.Took))
	}
	if err != nil {
		t.fail(err)
	}
	t.samples.Took = append(t.samples.Took, got.Took...)
	t.samples.First = append(t.samples.First, got.First...)
	t.samples.WireIn += got.WireIn
	t.samples.WireOut += got.WireOut
	t.samples.Text, t.samples.Output = got.Text, got.Output
}

// spent is the processor time of a subject, and of this process, which is its client. It is zero of one that starts a
// process for each call: what that used is not known when it has ended.
func (s *Suite) spent(x subject.Subject) time.Duration {
	time.Sleep(time.Millisecond) // what a thread uses is known when it rests
	switch {
	case x.PID() != 0:
		return proc.UsedHere() + proc.Used(x.PID())
	case s.peer(x.Name()) != nil:
		return 0
	}
	return proc.UsedHere()
}

// perCall is the processor time of one call in milliseconds: what the subject says of it, else what was spent. It is zero
// when that is not known.
func perCall(spent time.Duration, got subject.Samples) float64 {
	if got.CPU > 0 || len(got.Took) == 0 {
		return got.CPU
	}
	return max(0, subject.Milliseconds(spent)/float64(len(got.Took)))
}

// vars are those that a subject is given for an operation.
func (s *Suite) vars(name string, o op) subject.Vars {
	vars := s.Vars.With("run", name)
	maps.Copy(vars, o.vars)
	if o.streams {
		vars["streams"] = "yes"
	}
	return vars
}

// work is where subjects have files of their own.
func (s *Suite) work() string { return filepath.Join(s.Vars["fx"], "work") }

// replays reports whether a subject changes nothing.
func (s *Suite) replays(name string) bool {
	p := s.peer(name)
	return p != nil && p.Replays()
}

// own gives a subject a file, or a repository, that it may change.
func (t *turn) own(ctx context.Context, o op, b *subject.Batch, dir string) (err error) {
	switch {
	case o.file != "":
		if t.path, err = marked(o.file, dir, t.subject.Name(), b.From); err == nil {
			b.Vars = b.Vars.With("path", t.path, "old", "MARK_${i}_", "new", "MARK_${next}_")
		}
	case o.repo != "":
		if t.path == "" {
			t.path = filepath.Join(dir, t.subject.Name()+"-repo")
			err = inputs.Copy(ctx, o.repo, t.path)
		}
		b.Vars = b.Vars.With("repo", t.path)
	}
	return err
}

// check sees whether the last edit is in the file.
func (t *turn) check(last int) error {
	b, err := os.ReadFile(t.path)
	if err == nil && !strings.Contains(string(b), fmt.Sprintf("MARK_%d_", last)) {
		return fmt.Errorf("the file is not as its edits make it")
	}
	return err
}

// finish makes a row of what was measured.
func (s *Suite) finish(o op, t *turn) {
	r := t.row
	r.Fill(t.samples.Took)
	if o.name == "ttfb" {
		r.Fill(t.samples.First)
	}
	r.Foreign = t.foreign / float64(max(1, t.rounds))
	if len(t.cpu) > 0 {
		r.CPU = slices.Min(t.cpu) // what others do at the same time adds to it
	}
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
	if r.Status == row.OK {
		r.Note = s.about(r.Subject, asOp(o.name))
		s.whole(o, r, t.samples.Text)
	}
	s.add(r)
}

// about is what the table says of a row.
func (s *Suite) about(name, op string) string {
	if p := s.peer(name); p != nil && p.Ops[op] != nil {
		return p.Ops[op].Note
	}
	return floorNotes[op]
}

// whole sees whether all came back that was asked for.
func (s *Suite) whole(o op, r *row.Row, text string) {
	if pattern := s.patterns[r.Subject][o.name]; pattern != nil {
		r.Count = len(pattern.FindAllStringIndex(text, -1))
		switch {
		case r.Count < min(o.count, 1):
			r.Status, r.Note = row.Failed, "nothing of what was asked for came back"
			return
		case r.Count < o.count && !countsOnce[pattern.String()]:
			r.Status, r.Note = row.Truncated, fmt.Sprintf("%d of %d", r.Count, o.count)
			return
		}
	}
	if o.bytes > 0 && r.Bytes < o.bytes*98/100 && !strings.HasPrefix(o.name, "write") && r.Subject != inProcess && r.Subject != inJail {
		r.Status, r.Note = row.Truncated, fmt.Sprintf("%d of %d bytes", r.Bytes, o.bytes)
	}
}

// countsOnce are patterns of answers that state a number of matches instead of listing them.
var countsOnce = map[string]bool{`"total_matches"`: true}

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

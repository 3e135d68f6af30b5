package suite

import (
	"fmt"
	"time"

	"github.com/agentco/agent/bench/internal/row"
)

// progress tells how far a run is, by what its parts are expected to take.
type progress struct {
	begun       time.Time
	total, done time.Duration
}

func (p *progress) passed(d time.Duration) { p.done += d }

// left is what is expected of the rest: as much slower or faster as the run was until now.
func (p *progress) left(gone time.Duration) time.Duration {
	rest := max(0, p.total-p.done)
	if p.done < p.total/20 {
		return rest
	}
	return time.Duration(float64(rest) * float64(gone) / float64(p.done))
}

func (p *progress) say(say func(string), next string) {
	gone := time.Since(p.begun)
	say(fmt.Sprintf("-- %s: %s gone, about %s left", next, gone.Round(time.Second), p.left(gone).Round(time.Second)))
}

// What is not planned by limits: the rest of a whole run for each subject, measured on a quiet machine.
const (
	coldEach   = 8 * time.Second
	cancelEach = 5 * time.Second
	growthAll  = 40 * time.Second
)

// plan adds up what this run is expected to take.
func (s *Suite) plan(ops []op) {
	s.progress = progress{begun: time.Now()}
	for _, o := range ops {
		if s.measures(o) {
			s.progress.total += s.cost(o)
		}
	}
	s.progress.total += s.costOfCold() + s.costOfCancels() + s.costOfGrowth()
	s.Say(fmt.Sprintf("expected: %s, without what prepares it", s.progress.total.Round(time.Second)))
}

// cost is what an operation is expected to take of all subjects together.
func (s *Suite) cost(o op) (total time.Duration) {
	for name, has := range floorOps() {
		if has[asOp(o.name)] != nil {
			total += s.costOf(name, o)
		}
	}
	for _, p := range s.Peers {
		if p.Ops[asOp(o.name)] != nil {
			total += s.costOf(p.Name, o)
		}
	}
	return total
}

// costOf is what an operation is expected to take of one subject: by the rows of an earlier run, else half its limit, or what
// so many bytes take.
func (s *Suite) costOf(name string, o op) time.Duration {
	limit := s.limit(o)
	var r *row.Row
	if s.Before != nil {
		r = s.Before.Get(name, o.name)
	}
	if r == nil {
		passing := time.Duration(o.bytes/50e6) * time.Second // what a terminal passes on
		return max(limit/2, passing*time.Duration(s.repetitions(name, o)))
	}
	one := time.Duration(r.P50 * float64(time.Millisecond))
	return max(one, min(limit, one*time.Duration(s.repetitions(name, o))/time.Duration(max(1, o.workers))))
}

func (s *Suite) costOfCold() time.Duration {
	if !s.wants("cold") {
		return 0
	}
	return time.Duration(float64(coldEach) * float64(len(s.Peers)) * min(1, s.Scale+0.1))
}

func (s *Suite) costOfCancels() (total time.Duration) {
	for _, c := range cancellations {
		for _, p := range s.Peers {
			if s.wants(c.op) && p.Ops[c.op] != nil {
				total += time.Duration(float64(cancelEach) * min(1, s.Scale+0.3))
			}
		}
	}
	return total
}

func (s *Suite) costOfGrowth() time.Duration {
	if !s.wants("start1") && !s.wants("log10") {
		return 0
	}
	return time.Duration(float64(growthAll) * min(1, s.Scale+0.3))
}

package report

import (
	"math"

	"github.com/agentco/agent/bench/internal/row"
)

// Target is a ratio to be kept in one run: our figure to that of another.
type Target struct {
	Work string
	// Ours is the row that has to be good.
	Ours figure
	// Against is what it is compared with, and Named how the table calls it.
	Against figure
	Named   string
	// AtMost is the ratio of ours to it; AtLeast is set instead for figures of which more is better.
	AtMost, AtLeast float64
	// Bounds say what Ours cannot be less than; the highest that was measured holds. Beside are figures to be read with it.
	Bounds []bound
	Beside []part
	// Remark says below the table what is to be known of the row; nil for nothing.
	Remark func(*row.Set) string
}

// figure takes a value from a set; not a number when it was not measured.
type figure func(*row.Set) float64

// Verdict is what came of a target.
type Verdict struct {
	Target
	Value, Other, Ratio float64
}

// Measured reports whether both sides were measured.
func (v Verdict) Measured() bool { return !math.IsNaN(v.Ratio) }

// Met reports whether the target was met.
func (v Verdict) Met() bool {
	if v.AtLeast > 0 {
		return v.Ratio >= v.AtLeast
	}
	return v.Ratio <= v.AtMost
}

// Judge holds a set to a target.
func (t Target) Judge(s *row.Set) Verdict {
	v := Verdict{Target: t, Value: t.Ours(s), Other: t.Against(s)}
	v.Ratio = v.Value / v.Other
	return v
}

// median is the median of a row in milliseconds. It counts only when the whole answer came back: a target is not met by
// doing less.
func median(subject, op string) figure {
	return func(s *row.Set) float64 {
		if r := s.Get(subject, op); r != nil && r.P50 > 0 && r.Status == row.OK {
			return r.P50
		}
		return math.NaN()
	}
}

// bounded is median for what is meant to answer with a part.
func bounded(subject, op string) figure {
	return func(s *row.Set) float64 {
		if r := s.Get(subject, op); r != nil && r.P50 > 0 {
			return r.P50
		}
		return math.NaN()
	}
}

// mean is the mean of a row in milliseconds, as median.
func mean(subject, op string) figure {
	return func(s *row.Set) float64 {
		if r := s.Get(subject, op); r != nil && r.Mean > 0 && r.Status == row.OK {
			return r.Mean
		}
		return math.NaN()
	}
}

// shared is how long so many calls that are made at once take at least, each using the processors as one of a row does, or
// as a figure says.
func shared(calls float64, one figure) figure {
	return func(s *row.Set) float64 {
		if s.Cores == 0 {
			return math.NaN()
		}
		return calls * one(s) / float64(s.Cores)
	}
}

// used is the processor time of one call of a row in milliseconds.
func used(subject, op string) figure {
	return func(s *row.Set) float64 {
		if r := s.Get(subject, op); r != nil && r.CPU > 0 && r.Status == row.OK {
			return r.CPU
		}
		return math.NaN()
	}
}

// excess is by how much a figure is above another, if it is.
func excess(of, over figure) figure {
	return func(s *row.Set) float64 {
		v := of(s) - over(s)
		if v < 0 {
			return 0
		}
		return v
	}
}

// throughput is that of a row in MB/s.
func throughput(subject, op string) figure {
	return func(s *row.Set) float64 {
		if r := s.Get(subject, op); r != nil && r.MBps > 0 {
			return r.MBps
		}
		return math.NaN()
	}
}

// memory is that of a row in MB.
func memory(subject, op string) figure {
	return func(s *row.Set) float64 {
		if r := s.Get(subject, op); r != nil && r.MB > 0 {
			return r.MB
		}
		return math.NaN()
	}
}

// growthOf is by how much memory grew in a row, in MB. A subject that did not grow counts as one that grew by a byte.
func growthOf(subject, op string) figure {
	return func(s *row.Set) float64 {
		if r := s.Get(subject, op); r != nil {
			return max(r.GrewMB, 1e-6)
		}
		return math.NaN()
	}
}

// fixed is a figure that is given.
func fixed(value float64) figure { return func(*row.Set) float64 { return value } }

// sum adds figures.
func sum(parts ...figure) figure {
	return func(s *row.Set) (total float64) {
		for _, p := range parts {
			total += p(s)
		}
		return total
	}
}

// least is the smallest of those that were measured.
func least(of ...figure) figure {
	return func(s *row.Set) float64 {
		best := math.NaN()
		for _, f := range of {
			if v := f(s); !math.IsNaN(v) && !(v >= best) {
				best = v
			}
		}
		return best
	}
}

// best is the smallest median of an operation among all subjects that are not ours and no floor, whole answers only.
func best(op string) figure { return bestOf(op, func(*row.Set, string) bool { return true }) }

// bestMCP is best among servers of MCP.
func bestMCP(op string) figure {
	return bestOf(op, func(s *row.Set, name string) bool { return s.Kinds[name] == "mcp" })
}

func bestOf(op string, of func(*row.Set, string) bool) figure {
	return func(s *row.Set) float64 {
		if r := bestRow(s, op, of); r != nil {
			return r.P50
		}
		return math.NaN()
	}
}

func bestRow(s *row.Set, op string, of func(*row.Set, string) bool) (best *row.Row) {
	for _, r := range s.Rows {
		if r.Op == op && r.Status == row.OK && r.P50 > 0 && peer(r.Subject) && of(s, r.Subject) && (best == nil || r.P50 < best.P50) {
			best = r
		}
	}
	return best
}

// peer reports whether a subject is what a user would otherwise pick: neither ours nor a floor.
func peer(name string) bool { return !ours(name) && !floors[name] }

func ours(name string) bool { return len(name) > 5 && name[:5] == "ours-" }

var floors = map[string]bool{"in-process": true, "go-plugin": true, "bare-mcp": true, "bare-chain": true, "client-floor": true, "client-same": true, "bare-chain-same": true, "bare-linked": true, "log-alone": true, "in-jail": true, "go-plugin-stream": true, "bash": true, "git": true, "bwrap": true}

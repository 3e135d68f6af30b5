package suite

import (
	"fmt"
	"time"

	"github.com/agentco/agent/bench/internal/proc"
	"github.com/agentco/agent/bench/internal/row"
	"github.com/agentco/agent/bench/internal/subject"
)

// held is the most that a subject held during an operation, in 10^6 bytes.
type held struct {
	mb    float64
	parts map[string]float64
}

// settle takes note of the peak until now and begins a new one; it says what the subject holds.
func (s *Suite) settle(x subject.Subject) float64 {
	if x.PID() == 0 {
		return 0
	}
	s.rise(x)
	proc.ForgetPeak(x.PID())
	mb, _ := proc.Memory(x.PID(), false)
	return mb
}

// rise is the most that a subject held since it settled.
func (s *Suite) rise(x subject.Subject) float64 {
	if x.PID() == 0 {
		return 0
	}
	mb, parts := proc.Memory(x.PID(), true)
	if mb > s.peaks[x.Name()].mb {
		s.peaks[x.Name()] = held{mb, parts}
	}
	return mb
}

// memory takes note of what each subject with a process holds, or of the most that it held.
func (s *Suite) memory(name string, peak bool) {
	if !s.wants(name) {
		return
	}
	if !peak {
		time.Sleep(1500 * time.Millisecond) // what starts behind has started
	}
	seen := map[int]bool{0: true}
	for _, x := range s.subjects {
		if seen[x.PID()] { // none, or that of another floor
			continue
		}
		seen[x.PID()] = true
		r := &row.Row{Subject: x.Name(), Op: name, Status: row.OK, N: 1}
		if peak {
			s.rise(x)
			r.MB, r.Parts = s.peaks[x.Name()].mb, s.peaks[x.Name()].parts
		} else {
			r.MB, r.Parts = proc.Memory(x.PID(), false)
			r.ShareMB = proc.Proportional(x.PID())
		}
		r.Note = fmt.Sprintf("%.0f MB", r.MB)
		s.add(r)
	}
}

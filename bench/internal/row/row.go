// Package row holds what was measured: one Row a subject and an operation.
package row

import (
	"math"
	"slices"
)

// Status says what came of a measurement.
type Status string

// What can come of one.
const (
	OK        Status = "ok"
	Truncated Status = "truncated" // less came back than was asked for
	Failed    Status = "failed"
	Never     Status = "never" // what had to end did not, within seconds
)

// Row is one operation of one subject. Times are in milliseconds.
type Row struct {
	Subject string  `json:"subject"`
	Op      string  `json:"op"`
	Status  Status  `json:"status"`
	N       int     `json:"n"`
	Min     float64 `json:"min_ms,omitempty"`
	P50     float64 `json:"p50_ms,omitempty"`
	P90     float64 `json:"p90_ms,omitempty"`
	P99     float64 `json:"p99_ms,omitempty"`
	Mean    float64 `json:"mean_ms,omitempty"`
	// CPU is the processor time of one call, of the subject and its client together, in the round in which it was least; zero
	// when it is not known.
	CPU float64 `json:"cpu_ms,omitempty"`
	// MBps is the payload of one call through its median time, in 10^6 bytes a second.
	MBps float64 `json:"mb_per_s,omitempty"`
	// MB is memory in 10^6 bytes: of the subject with its descendants; Parts are its processes.
	MB    float64            `json:"mb,omitempty"`
	Parts map[string]float64 `json:"parts_mb,omitempty"`
	// ShareMB is MB with the pages that processes share counted once.
	ShareMB float64 `json:"share_mb,omitempty"`
	// GrewMB is how much more the subject held at its most than before.
	GrewMB float64 `json:"grew_mb,omitempty"`
	// WireOut and WireIn are bytes of one call between client and subject, as the client sees them.
	WireOut int `json:"wire_out,omitempty"`
	WireIn  int `json:"wire_in,omitempty"`
	// Count is how many things came back, and Bytes how much text.
	Count int `json:"count,omitempty"`
	Bytes int `json:"bytes,omitempty"`
	// Foreign is how many cores others on the machine used meanwhile.
	Foreign float64 `json:"foreign_cores"`
	Note    string  `json:"note,omitempty"`
}

// Fill computes the order statistics and the mean of samples in milliseconds.
func (r *Row) Fill(samples []float64) {
	r.N = len(samples)
	if r.N == 0 {
		return
	}
	s := slices.Sorted(slices.Values(samples))
	r.Min, r.P50, r.P90, r.P99 = s[0], Quantile(s, 0.5), Quantile(s, 0.9), Quantile(s, 0.99)
	r.Mean = 0
	for _, v := range s {
		r.Mean += v / float64(r.N)
	}
}

// Quantile is a quantile of sorted values: the nearest one. Zero of none.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(math.Round(q*float64(len(sorted)-1)))]
}

// Slope is the power by which a cost grows with the work, by least squares over both logarithms: 1 is in proportion, 0 not
// at all. It is not a number when fewer than two points are positive.
func Slope(work, cost []float64) float64 {
	var n, sx, sy, sxx, sxy float64
	for i := range work {
		if work[i] <= 0 || cost[i] <= 0 {
			continue
		}
		x, y := math.Log(work[i]), math.Log(cost[i])
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	if n < 2 {
		return math.NaN()
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}

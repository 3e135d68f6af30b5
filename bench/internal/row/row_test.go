package row

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFill(t *testing.T) {
	samples := make([]float64, 101)
	for i := range samples {
		samples[i] = float64(100 - i)
	}
	var r Row
	r.Fill(samples)
	require.Equal(t, Row{N: 101, Min: 0, P50: 50, P90: 90, P99: 99, Mean: r.Mean}, r)
	require.InDelta(t, 50, r.Mean, 1e-9)
	require.Equal(t, 100.0, samples[0], "the samples stay in their order")

	var none Row
	none.Fill(nil)
	require.Equal(t, Row{}, none)
}

func TestSlope(t *testing.T) {
	for _, test := range []struct {
		name       string
		work, cost []float64
		want       float64
	}{
		{"in proportion", []float64{1, 10, 100}, []float64{3, 30, 300}, 1},
		{"not at all", []float64{1, 10, 100}, []float64{5, 5, 5}, 0},
		{"with the square", []float64{1, 10}, []float64{1, 100}, 2},
		{"a point without a cost is none", []float64{1, 10, 100}, []float64{0, 30, 300}, 1},
		{"one point has no slope", []float64{1}, []float64{1}, math.NaN()},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Slope(test.work, test.cost)
			if math.IsNaN(test.want) {
				require.True(t, math.IsNaN(got))
				return
			}
			require.InDelta(t, test.want, got, 1e-9)
		})
	}
}

func TestSetIsReadAsItWasWritten(t *testing.T) {
	s := &Set{Machine: "2 cores", Skipped: map[string]string{"x": "not there"}, About: map[string]string{},
		Rows: []*Row{{Subject: "a", Op: "b", Status: OK, P50: 1.5}, {Subject: "a", Op: "c", Status: Failed}}}
	path := filepath.Join(t.TempDir(), "rows.json")
	require.NoError(t, s.Save(path))
	got, err := Load(path)
	require.NoError(t, err)
	require.Equal(t, s, got)
	require.Equal(t, 1.5, got.Get("a", "b").P50)
	require.Nil(t, got.Get("a", "c"), "what failed was not measured")
}

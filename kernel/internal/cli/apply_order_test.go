package cli

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/engine"
)

func TestEndingsInOrder(t *testing.T) {
	tests := []struct {
		name  string
		ended []int // in the order in which they do; those below 10 run
		want  []int
	}{
		{"one after another", []int{0, 1, 2}, []int{0, 1, 2}},
		{"what ran is told at once", []int{2, 1, 0}, []int{2, 1, 0}},
		{"what did not comes after those above", []int{11, 0, 2}, []int{0, 11, 2}},
		{"all that wait for one", []int{12, 11, 0}, []int{0, 11, 12}},
		{"the last is told before", []int{11, 2, 0}, []int{2, 0, 11}},
		{"none ran", []int{12, 10, 11}, []int{10, 11, 12}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var told []int
			e := newEndings(3, func(i int, o engine.Outcome) {
				if o.Took == 0 {
					i += 10
				}
				told = append(told, i)
			})
			for _, i := range tt.ended {
				o := engine.Outcome{Status: engine.Completed, Took: time.Second}
				if i >= 10 {
					o = engine.Outcome{Status: engine.Skipped}
				}
				e.ended(i%10, o)
			}
			require.Equal(t, tt.want, told)
			require.Empty(t, e.held)
		})
	}
}

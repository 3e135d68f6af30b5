package sdk

import (
	"testing"

	"github.com/agentco/agent/sdk/internal/turn"
)

func BenchmarkTurnOfAPlainCall(b *testing.B) {
	for _, test := range []struct {
		name     string
		anyAlone bool
	}{{"among plain ones", false}, {"beside exclusive operations", true}} {
		b.Run(test.name, func(b *testing.B) {
			t := &turns{anyAlone: test.anyAlone}
			b.ReportAllocs()
			for b.Loop() {
				_ = t.enter(b.Context(), turn.Claim{})
				t.leave(turn.Claim{})
			}
		})
	}
}

package gate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkReview is what a call pays at the gate: one that is allowed as it stands, and one that is asked about.
func BenchmarkReview(b *testing.B) {
	for _, test := range []struct {
		name string
		call Call
	}{{"read", read}, {"write", write}} {
		b.Run(test.name, func(b *testing.B) {
			g := &Gate{Approver: ApproveAll("bench")}
			for b.Loop() {
				if v := g.Review([]Call{test.call}).Ask(b.Context()); !v[0].Allowed {
					require.Fail(b, v[0].Reason)
				}
			}
		})
	}
}

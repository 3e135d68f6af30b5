package host

import (
	"testing"

	"github.com/agentco/agent/proto/plugin"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"
)

// A provider that is asked how a call ended must not take an earlier attempt for it, which has the same id.
func TestLaterAttemptsAreNumbered(t *testing.T) {
	for _, test := range []struct {
		name    string
		attempt int
		want    []string
	}{
		{"not said", 0, nil},
		{"the first", 1, nil},
		{"the second", 2, []string{"2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			sent, _ := metadata.FromOutgoingContext(numbered(t.Context(), Call{Attempt: test.attempt}))
			require.Equal(t, test.want, sent.Get(plugin.AttemptHeader))
		})
	}
}

package cli

import (
	"bufio"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/agentco/agent/kernel/internal/policy"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
)

// What is granted for the rest of a session is shown in the question, and only offered when there is a rest.
func TestPromptOffersTheSession(t *testing.T) {
	offer := &gate.Grant{Match: policy.Match{Provider: "bash", ToolName: "bash", Command: []string{"go test *"}}}
	tests := []struct {
		name  string
		more  bool
		offer *gate.Grant
		typed string
		want  gate.Answer
		shown bool
	}{
		{"session", true, offer, "s\n", gate.Answer{Approved: true, Session: true, By: "person, for this session"}, true},
		{"whole word", true, offer, "Session\n", gate.Answer{Approved: true, Session: true, By: "person, for this session"}, true},
		{"just yes", true, offer, "y\n", gate.Answer{Approved: true, By: "person"}, true},
		{"no rest", false, offer, "s\n", gate.Answer{By: "person", Reason: "refused at the prompt"}, false},
		{"no offer", true, nil, "s\n", gate.Answer{By: "person", Reason: "refused at the prompt"}, false},
		{"always without an offer", true, nil, "a\n", gate.Answer{By: "person", Reason: "refused at the prompt"}, false},
		{"end of input", true, offer, "", gate.Answer{By: "person", Reason: "refused at the prompt"}, true}, // K28
		{"cut off", true, offer, "s", gate.Answer{By: "person", Reason: "refused at the prompt"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, said := onFiles(t)
			in, out, err := os.Pipe()
			require.NoError(t, err)
			defer in.Close()
			_, err = out.WriteString(tt.typed)
			require.NoError(t, err)
			require.NoError(t, out.Close())
			p := &prompt{display: a.display, terminal: &terminal{in: in, reader: bufio.NewReader(in)}, more: tt.more}
			answers, err := p.Approve(t.Context(), []gate.Question{{PlanItem: &planv1.PlanItem{Provider: "bash", OperationName: "bash"}, Offer: tt.offer}})
			require.NoError(t, err)
			require.Equal(t, []gate.Answer{tt.want}, answers)
			if tt.shown {
				require.Contains(t, said(), "s: yes, and in this session also bash.bash go test *\n")
			} else {
				require.NotContains(t, said(), "in this session")
			}
		})
	}
}

// What a provider has against changed arguments cannot pass for the next question.
func TestPromptKeepsAProblemBehindABar(t *testing.T) {
	require.Equal(t, "error: no␛[2J\n  │ fs.read · risk low\n  │ Go ahead? [y/N] ", objection("no\x1b[2J\nfs.read · risk low\nGo ahead? [y/N] ", paint.Painter{}))
}

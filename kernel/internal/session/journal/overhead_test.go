package journal_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/host"
	"github.com/agentco/agent/kernel/internal/host/hosttest"
	"github.com/agentco/agent/kernel/internal/policy"
	"github.com/agentco/agent/kernel/internal/session"
	"github.com/agentco/agent/kernel/internal/session/journal"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// BenchmarkOverhead is what the kernel adds to a call that only reads, part by part: each line has all of those above it
// but the decision, which is measured alone, and its p50 less that of the line above is what its part costs. A function of
// this process that answers the same takes nothing that could be measured here.
func BenchmarkOverhead(b *testing.B) {
	arguments, err := structpb.NewStruct(map[string]any{"text": "sixteen bytes ok"})
	require.NoError(b, err)
	rules := []policy.Rule{
		{Name: "go", Match: policy.Match{Provider: "fixture", Arguments: map[string]string{"text": "*.go"}}, Action: policy.Ask},
		{Name: "read", Match: policy.Match{Provider: "fixture"}, Action: policy.Allow},
	}
	b.Run("in process", func(b *testing.B) {
		median(b, func() bool { return arguments.GetFields()["text"].GetStringValue() != "" })
	})
	b.Run("policy and gate", func(b *testing.B) {
		compiled, err := policy.New(rules)
		require.NoError(b, err)
		g := &gate.Gate{Policy: compiled}
		call := gate.Call{ID: "tc_1", Provider: "fixture", Operation: "echo", Kind: toolv1.ToolKind_TOOL_KIND_DATA_SOURCE, Arguments: arguments}
		median(b, func() bool {
			verdict, decided := g.Review([]gate.Call{call}).Decided(0)
			return decided && verdict.Allowed
		})
	})
	b.Run("transport", func(b *testing.B) {
		p, err := host.Start(b.Context(), host.Spec{Name: "fixture", Path: hosttest.Path(), Env: hosttest.Env(hosttest.Good)}, nil)
		require.NoError(b, err)
		defer p.Close()
		operations := p.Operations()
		op := operations[slices.IndexFunc(operations, func(o host.Operation) bool { return o.Name == "echo" })]
		median(b, func() bool {
			reply := p.Invoke(b.Context(), host.Call{ID: ulid.Make().String(), Operation: op, Arguments: arguments}, func(*toolv1.ToolEvent) {})
			return reply.Ending == host.Completed
		})
	})
	b.Run("kernel without log", func(b *testing.B) { overhead(b, rules, arguments, false) })
	b.Run("kernel", func(b *testing.B) { overhead(b, rules, arguments, true) })
}

func overhead(b *testing.B, rules []policy.Rule, arguments *structpb.Struct, logged bool) {
	e, err := engine.Open(b.Context(), engine.Options{Policies: rules,
		Providers: []engine.ProviderSpec{{Name: "fixture", Path: hosttest.Path(), Env: hosttest.Env(hosttest.Good)}}})
	require.NoError(b, err)
	defer e.Close()
	o := engine.SessionOptions{ID: ulid.Make().String()}
	if logged {
		log, err := session.NewLog(b.TempDir(), session.Meta{ID: o.ID}, nil)
		require.NoError(b, err)
		j := journal.New(log, journal.Options{SessionID: o.ID})
		defer func() { require.NoError(b, j.Close(session.Completed)) }()
		o.Journal = j
	}
	s := e.Session(o)
	op, err := s.Lookup("fixture", "echo")
	require.NoError(b, err)
	median(b, func() bool {
		return s.Invoke(context.Background(), engine.Request{Operation: op, Arguments: arguments}, nil).Status == engine.Completed
	})
}

// median reports the p50 of a call, which a busy machine spoils less than the mean.
func median(b *testing.B, call func() bool) {
	var all []time.Duration
	for b.Loop() {
		begin := time.Now()
		if !call() {
			b.Fatal("the call did not come to a good end")
		}
		all = append(all, time.Since(begin))
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Nanoseconds())/1000, "p50-us")
}

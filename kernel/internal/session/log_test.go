package session

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// began is a log in a folder of its own.
func began(t testing.TB, meta Meta) *Log {
	t.Helper()
	if meta.ID == "" {
		meta.ID = ulid.Make().String()
	}
	l, err := NewLog(filepath.Join(t.TempDir(), "sessions"), meta, func(warning string) { t.Error(warning) })
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close(Failed)) })
	return l
}

var provider = Producer{Category: "tool", Name: "filesystem", Version: "1.2.0", Source: "github.com/agentco/agent"}

func encoded(m proto.Message) []byte {
	b, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

func toolCall(id string) Entry {
	return Entry{Kind: ToolCall, Producer: provider, CallID: id,
		Payload: encoded(&eventv1.ToolCallEvent{Call: &toolv1.ToolCall{Id: id, ToolName: "edit_file"}})}
}

func toolResult(id string) Entry {
	return Entry{Kind: ToolResult, Producer: provider, CallID: id,
		Payload: encoded(&eventv1.ToolResultEvent{ToolCallId: id, Outcome: &eventv1.ToolResultEvent_Result{Result: &toolv1.ToolResult{}}})}
}

func plan(call string) Entry {
	item := &planv1.PlanItem{Id: "i", CallId: call, Provider: "filesystem", OperationName: "edit_file",
		Decision: planv1.PlanDecision_PLAN_DECISION_ALLOW, DecidedBy: "person"}
	return Entry{Kind: Plan, Producer: Producer{Category: "kernel", Name: "agent"}, Items: []PlanItem{ItemOf("t", 0, item)},
		Payload: encoded(&eventv1.PlanEvent{Plan: &planv1.Plan{TurnId: "t", Items: []*planv1.PlanItem{item}}})}
}

func reading(t testing.TB, path string) *File {
	t.Helper()
	f, err := Open(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(f.Close)
	return f
}

func eventsOf(t testing.TB, f *File) (all []Event) {
	t.Helper()
	for e, err := range f.Events(t.Context()) {
		require.NoError(t, err)
		all = append(all, e)
	}
	return all
}

func outputOf(t testing.TB, f *File, call string) (all []Output) {
	t.Helper()
	for o, err := range f.Output(t.Context(), call) {
		require.NoError(t, err)
		all = append(all, o)
	}
	return all
}

func TestLog(t *testing.T) {
	meta := Meta{Command: "invoke", Project: "/home/p", Profile: "careful", Parent: "01J00000000000000000000000", Depth: 1}
	l := began(t, meta)
	require.NoFileExists(t, l.Path(), "a session in which nothing happens leaves nothing")

	l.Append(toolCall("a"))
	l.Print(Output{CallID: "a", Stream: Stdout, Data: []byte("one\n")})
	planned := l.Append(plan("a"))
	last := l.Append(toolResult("a"))
	n, err := planned.Wait(context.Background())
	require.NoError(t, err)
	require.EqualValues(t, 2, n)
	n, err = last.Wait(context.Background())
	require.NoError(t, err)
	require.EqualValues(t, 3, n)

	running := reading(t, l.Path())
	require.Equal(t, Running, running.Meta().Status)
	require.Len(t, eventsOf(t, running), 3, "others can read while it is written")
	running.Close()

	require.NoError(t, l.Close(Completed))
	require.NoError(t, l.Close(Failed), "the first status counts")
	_, err = l.Append(toolCall("b")).Wait(context.Background())
	require.ErrorIs(t, err, ErrClosed)

	names, err := filepath.Glob(filepath.Join(filepath.Dir(l.Path()), "*"))
	require.NoError(t, err)
	require.Equal(t, []string{l.Path()}, names, "an ended session is one file")
	if runtime.GOOS != "windows" {
		for path, mode := range map[string]os.FileMode{l.Path(): 0o600, filepath.Dir(l.Path()): 0o700 | os.ModeDir} {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode(), path)
		}
	}

	f := reading(t, l.Path())
	got := f.Meta()
	require.Equal(t, Completed, got.Status)
	require.Equal(t, []any{"invoke", "/home/p", "careful", meta.Parent, 1}, []any{got.Command, got.Project, got.Profile, got.Parent, got.Depth})
	require.False(t, got.Ended.Before(got.Started))
	all := eventsOf(t, f)
	require.Equal(t, [][]byte{toolCall("a").Payload, plan("a").Payload, toolResult("a").Payload}, [][]byte{all[0].Payload, all[1].Payload, all[2].Payload})
	require.Equal(t, []Kind{ToolCall, Plan, ToolResult}, []Kind{all[0].Kind, all[1].Kind, all[2].Kind})
	output := outputOf(t, f, "a")
	require.Len(t, output, 1)
	require.Equal(t, "one\n", string(output[0].Data))
	var items []PlanItem
	for item, err := range f.Items(t.Context()) {
		require.NoError(t, err)
		items = append(items, item)
	}
	require.Equal(t, []PlanItem{{2, "t", "a", "filesystem", "edit_file", "allow", "person"}}, items)
	var producers []Producer
	for p, err := range f.Producers(t.Context()) {
		require.NoError(t, err)
		producers = append(producers, p)
	}
	require.Equal(t, []Producer{provider, {Category: "kernel", Name: "agent"}}, producers)
}

func TestEmptySessionLeavesNothing(t *testing.T) {
	l := began(t, Meta{})
	require.NoError(t, l.Close(Completed))
	require.NoDirExists(t, filepath.Dir(l.Path()))
}

func TestNoID(t *testing.T) {
	for _, id := range []string{"", "../../x", "01J", strings.Repeat("Z", 26)} {
		_, err := NewLog(t.TempDir(), Meta{ID: id}, nil)
		require.Error(t, err, id)
	}
}

func TestOutputIsBounded(t *testing.T) {
	l := began(t, Meta{})
	l.Append(toolCall("a"))
	part := []byte(strings.Repeat("x", 300_000))
	for range 5 {
		l.Print(Output{CallID: "a", Stream: Stdout, Data: part})
	}
	l.Append(toolResult("a"))
	require.NoError(t, l.Close(Completed))
	var kept, skipped int64
	for _, o := range outputOf(t, reading(t, l.Path()), "a") {
		kept, skipped = kept+int64(len(o.Data)), skipped+o.Skipped
	}
	require.EqualValues(t, OutputLimit, kept)
	require.EqualValues(t, 5*len(part)-OutputLimit, skipped)
}

// A program that prints byte by byte makes few rows, and what it prints on its two streams stays apart.
func TestOutputIsJoined(t *testing.T) {
	l := began(t, Meta{})
	for i := range 2000 {
		l.Print(Output{CallID: "a", Stream: Stdout, Data: []byte{byte('a' + i%26)}})
	}
	l.Print(Output{CallID: "a", Stream: Stderr, Data: []byte("!")})
	require.NoError(t, l.Close(Completed))
	f := reading(t, l.Path())
	var text strings.Builder
	all := outputOf(t, f, "a")
	for _, o := range all[:len(all)-1] {
		require.Equal(t, Stdout, o.Stream)
		text.Write(o.Data)
	}
	require.Len(t, text.String(), 2000)
	require.Less(t, len(all), 500)
	require.Equal(t, Stderr, all[len(all)-1].Stream)
}

func TestManyWriters(t *testing.T) {
	l := began(t, Meta{})
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			for range 50 {
				id := ulid.Make().String()
				l.Append(toolCall(id))
				_, err := l.Append(toolResult(id)).Wait(context.Background())
				require.NoError(t, err)
			}
		})
	}
	wait.Wait()
	require.NoError(t, l.Close(Completed))
	v, err := Verify(t.Context(), l.Path())
	require.NoError(t, err)
	require.Empty(t, v.Problems)
	require.EqualValues(t, 2000, v.Events)
}

// While calls go on when there is much of it, and else as soon as nothing is written any more.
func TestWriteAheadLogIsTakenIn(t *testing.T) {
	for _, test := range []struct {
		name  string
		bytes int
	}{
		{"while it is written", checkpointAfter + checkpointAfter/4},
		{"in a pause", 2 * restAfter},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := began(t, Meta{})
			big := make([]byte, 1<<20)
			for range test.bytes / len(big) {
				_, err := l.Append(Entry{Kind: ToolCall, Payload: big}).Wait(context.Background())
				require.NoError(t, err)
			}
			require.Eventually(t, func() bool {
				info, err := os.Stat(l.Path())
				return err == nil && info.Size() > int64(test.bytes/2)
			}, time.Minute, 10*time.Millisecond)
		})
	}
}

// However much is written without a pause, the write-ahead log begins anew.
func TestWriteAheadLogIsBounded(t *testing.T) {
	l := began(t, Meta{})
	payload := make([]byte, 300_000)
	for range 4 * logLimit / len(payload) {
		l.Append(Entry{Kind: "message", Payload: payload})
	}
	info, err := os.Stat(l.Path() + "-wal")
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(3*logLimit))
}

// BenchmarkAppend is what logging adds to a call: that of a reading one, where only the result is waited for, and of a
// changing one, where the call is, too; and that of a large result.
func BenchmarkAppend(b *testing.B) {
	payload, big := []byte(strings.Repeat("p", 500)), make([]byte, 1<<20)
	for _, bench := range []struct {
		name string
		work func(l *Log, id string) error
	}{
		{"reading", func(l *Log, id string) error {
			l.Append(Entry{Kind: ToolCall, Producer: provider, CallID: id, Payload: payload})
			time.Sleep(200 * time.Microsecond) // the call itself, which is not counted below
			begin := time.Now()
			_, err := l.Append(Entry{Kind: ToolResult, Producer: provider, CallID: id, Payload: payload}).Wait(context.Background())
			waited += time.Since(begin)
			return err
		}},
		{"changing", func(l *Log, id string) error {
			begin := time.Now()
			_, err := l.Append(Entry{Kind: ToolCall, Producer: provider, CallID: id, Payload: payload}).Wait(context.Background())
			if err != nil {
				return err
			}
			_, err = l.Append(Entry{Kind: ToolResult, Producer: provider, CallID: id, Payload: payload}).Wait(context.Background())
			waited += time.Since(begin)
			return err
		}},
		{"a MiB", func(l *Log, id string) error {
			time.Sleep(20 * time.Millisecond)
			begin := time.Now()
			_, err := l.Append(Entry{Kind: ToolResult, Producer: provider, CallID: id, Payload: big}).Wait(context.Background())
			waited += time.Since(begin)
			return err
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			l := began(b, Meta{})
			waited = 0
			n := 0
			for b.Loop() {
				n++
				if err := bench.work(l, "tc_01J00000000000000000000000"); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(waited.Microseconds())/float64(n), "us/call")
		})
	}
}

var waited time.Duration

// BenchmarkSession is what a session of one call costs over its whole life.
func BenchmarkSession(b *testing.B) {
	folder := b.TempDir()
	var opened, closed time.Duration
	n := 0
	for b.Loop() {
		n++
		l, err := NewLog(folder, Meta{ID: ulid.Make().String()}, nil)
		require.NoError(b, err)
		begin := time.Now()
		_, err = l.Append(toolCall("a")).Wait(context.Background())
		require.NoError(b, err)
		opened += time.Since(begin)
		_, err = l.Append(toolResult("a")).Wait(context.Background())
		require.NoError(b, err)
		begin = time.Now()
		require.NoError(b, l.Close(Completed))
		closed += time.Since(begin)
	}
	b.ReportMetric(float64(opened.Microseconds())/float64(n), "open-us")
	b.ReportMetric(float64(closed.Microseconds())/float64(n), "close-us")
}

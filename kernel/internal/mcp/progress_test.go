package mcp

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
)

func progressEvent(message string, fraction float64) *toolv1.ToolEvent {
	p := &toolv1.ToolEvent_Progress{Message: message}
	if fraction >= 0 {
		p.FractionComplete = proto.Float64(fraction)
	}
	return &toolv1.ToolEvent{Event: &toolv1.ToolEvent_Progress_{Progress: p}}
}

func printed(text string) *toolv1.ToolEvent {
	return &toolv1.ToolEvent{Event: &toolv1.ToolEvent_OutputChunk_{OutputChunk: &toolv1.ToolEvent_OutputChunk{
		Stream: toolv1.OutputStream_OUTPUT_STREAM_STDOUT, Data: []byte(text)}}}
}

// M08: in a call of 90 seconds the client hears something at least every ten, it counts upwards, the token is its own,
// and after the end there is silence. Waiting for a person is no different.
func TestProgress(t *testing.T) {
	for _, token := range []any{"a", float64(7)} {
		synctest.Test(t, func(t *testing.T) {
			last, count, lastProgress := time.Now(), 0, 0.0
			p := watch(token, func(n *sdk.ProgressNotificationParams) {
				require.Equal(t, token, n.ProgressToken)
				require.Greater(t, n.Progress, lastProgress)
				require.LessOrEqual(t, time.Since(last), 10*time.Second)
				last, lastProgress = time.Now(), n.Progress
				count++
			})
			p.note("waiting for an approval")
			wait := func() {
				time.Sleep(30 * time.Second)
				synctest.Wait()
			}
			wait()
			p.event(progressEvent("half", 0.5))
			wait()
			p.event(progressEvent("still half", 0.5))
			p.event(progressEvent("nearly", 0.9))
			wait()
			require.LessOrEqual(t, time.Since(last), 10*time.Second)
			require.Greater(t, count, 9)
			p.stop()
			before := count
			p.event(progressEvent("late", -1))
			wait()
			require.Equal(t, before, count)
		})
	}
}

func TestNoTokenNoProgress(t *testing.T) {
	p := watch(nil, func(*sdk.ProgressNotificationParams) { require.Fail(t, "nobody asked") })
	p.note("x")
	p.event(progressEvent("x", -1))
	p.stop()
}

func TestProgressSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []*sdk.ProgressNotificationParams
		p := watch("a", func(n *sdk.ProgressNotificationParams) { told = append(told, n) })
		p.event(progressEvent("starting", -1))
		p.event(printed("hi\n")) // the first output does not wait
		require.Equal(t, []string{"starting", "hi"}, messages(told))
		for range 1000 { // what is printed fast is told in few words
			p.event(printed(strings.Repeat("x", 1000) + "\n"))
		}
		time.Sleep(pace)
		synctest.Wait()
		require.Len(t, told, 3)
		require.LessOrEqual(t, len(told[2].Message), mostOutput)
		time.Sleep(pace)
		p.event(progressEvent("a quarter", 0.25))
		require.InDelta(t, 103, told[3].Total, 0.01, "what was counted, and a hundred")
		require.InDelta(t, 28, told[3].Progress, 0.01)
		p.event(printed("\x1b[31mred\x1b[0m\x07"))
		time.Sleep(pace)
		synctest.Wait()
		require.Equal(t, "red␇", told[4].Message)
		p.stop()
	})
}

func messages(told []*sdk.ProgressNotificationParams) []string {
	var all []string
	for _, n := range told {
		all = append(all, n.Message)
	}
	return all
}

// M08: a token comes back as it was, or not at all.
func TestTokensThatCannotComeBack(t *testing.T) {
	for _, token := range []any{nil, true, map[string]any{"a": 1}, []any{"a"}, float64(1 << 53), float64(-(1 << 53)), math.Inf(1), math.NaN()} {
		require.Nil(t, watch(token, nil), "%v", token)
	}
	for _, token := range []any{"", "p", 0.0, -1.0, 1.5, float64(1<<53 - 1), int64(7)} {
		p := watch(token, nil)
		require.NotNil(t, p, "%v", token)
		p.stop()
	}
}

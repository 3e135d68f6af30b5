package mcp

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/engine"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// stream is an answer over HTTP that is read as it comes.
type stream struct {
	t    *testing.T
	body io.ReadCloser
	read strings.Builder
	stop context.CancelFunc
}

// post begins a request, whose stream is to be read or dropped.
func (w *web) post(t *testing.T, session, version, body string) *stream {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, strings.NewReader(body))
	require.NoError(t, err)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", headerSession: session, headerVersion: version,
	} {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.Equal(t, 200, answer.StatusCode)
	t.Cleanup(func() { stop(); _ = answer.Body.Close() })
	return &stream{t: t, body: answer.Body, stop: stop}
}

// until reads up to a text, and returns the id of the last event until then.
func (s *stream) until(text string) (event string) {
	s.t.Helper()
	part := make([]byte, 4096)
	for !strings.Contains(s.read.String(), text) {
		n, err := s.body.Read(part)
		s.read.Write(part[:n])
		require.True(s.t, n > 0 || err == nil, s.read.String())
	}
	return lastEvent(s.read.String())
}

// whole is everything that comes until the end.
func (s *stream) whole() string {
	s.t.Helper()
	text, err := io.ReadAll(s.body)
	require.NoError(s.t, err)
	s.read.Write(text)
	return s.read.String()
}

// lastEvent is the id of the last event of a stream that has one.
func lastEvent(text string) (event string) {
	for line := range strings.Lines(text) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "id: "); ok {
			event = id
		}
	}
	return event
}

// resume asks for what comes after an event.
func (w *web) resume(t *testing.T, session, version, event string) (status int, text string) {
	t.Helper()
	answer, text := w.do(t, "GET", "", headerSession, session, headerVersion, version, headerLastEvent, event, "Accept", "text/event-stream")
	return answer.StatusCode, text
}

// begin opens a session of a version.
func (w *web) begin(t *testing.T, version string) (session string) {
	t.Helper()
	answer, _ := w.do(t, "POST", strings.Replace(hello, "2025-06-18", version, 1))
	require.Equal(t, 200, answer.StatusCode)
	return answer.Header.Get(headerSession)
}

func blocking(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"fixture_block","arguments":{},"_meta":{"progressToken":%[1]d}}}`, id)
}

func cancelled(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"enough"}}`, id)
}

// M07: over HTTP, too, what was cancelled is not answered; and whoever takes the end of its stream for a lost connection is
// told that nothing more comes.
func TestCancelledOverHTTP(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			w := start(t, nil, nil).listen(t, HTTPOptions{})
			session := w.begin(t, version)
			s := w.post(t, session, version, blocking(2))
			s.until("blocking")
			for range 2 { // twice is once
				answer, _ := w.do(t, "POST", cancelled(2), headerSession, session, headerVersion, version)
				require.Equal(t, 202, answer.StatusCode)
			}
			whole := s.whole()
			require.NotContains(t, whole, `"id":2`)
			require.NotContains(t, whole, "cancelled")
			require.Equal(t, engine.Cancelled, w.kept.outcomes()[0].Status)
			for range 2 {
				status, text := w.resume(t, session, version, lastEvent(whole))
				require.Equal(t, 405, status, text)
				require.NotContains(t, text, "data:")
			}
			require.Contains(t, w.post(t, session, version, toolCall(3, "fixture_echo", `{"text":"still here"}`)).whole(), "still here")
			w.do(t, "DELETE", "", headerSession, session)
		})
	}
}

// A call that is cancelled on a stream that was gone on with.
func TestCancelledAfterAResumption(t *testing.T) {
	const version = "2025-11-25"
	w := start(t, nil, nil).listen(t, HTTPOptions{})
	session := w.begin(t, version)
	s := w.post(t, session, version, blocking(2))
	event := s.until("blocking")
	s.stop()
	var missed strings.Builder
	over := make(chan struct{})
	go func() {
		defer close(over)
		for status := 0; status != http.StatusMethodNotAllowed; { // 409 until the server has seen that the connection is gone
			var text string
			status, text = w.resume(t, session, version, event)
			missed.WriteString(text)
			event = cmp.Or(lastEvent(text), event)
		}
	}()
	answer, _ := w.do(t, "POST", cancelled(2), headerSession, session, headerVersion, version)
	require.Equal(t, 202, answer.StatusCode)
	<-over
	require.NotContains(t, missed.String(), `"id":2`)
	w.do(t, "DELETE", "", headerSession, session)
}

// Of several requests in one message, the others are answered.
func TestCancelledInABatch(t *testing.T) {
	const version = "2025-03-26"
	w := start(t, nil, nil).listen(t, HTTPOptions{})
	session := w.begin(t, version)
	s := w.post(t, session, version, "["+blocking(2)+","+blocking(3)+"]")
	for id := range 2 {
		s.until(fmt.Sprintf(`"progressToken":%d`, id+2))
	}
	w.do(t, "POST", cancelled(2), headerSession, session, headerVersion, version)
	require.Eventually(t, func() bool { return len(w.kept.outcomes()) == 1 }, time.Minute, 5*time.Millisecond)
	w.stop() // which is no cancellation of its client's
	whole := s.whole()
	require.NotContains(t, whole, `"id":2`)
	require.Contains(t, whole, `"id":3`)
}

// Who was answered with an error, and comes back for more, is told that there is none; who missed it gets it.
func TestResumptionAfterAnError(t *testing.T) {
	const version = "2025-11-25"
	w := start(t, nil, nil).listen(t, HTTPOptions{})
	session := w.begin(t, version)
	s := w.post(t, session, version, toolCall(2, "nothing", "{}"))
	event := lastEvent(s.whole())
	first, _, _ := strings.Cut(event, "_")
	for after, want := range map[string]int{event: 405, first + "_0": 200} {
		status, text := w.resume(t, session, version, after)
		require.Equal(t, want, status, text)
		require.Equal(t, want == 200, strings.Contains(text, "unknown tool"))
	}
	w.do(t, "DELETE", "", headerSession, session)
}

// The SDK's client goes on after a cancellation.
func TestClientCancelsOverHTTP(t *testing.T) {
	w := start(t, nil, nil).listen(t, HTTPOptions{})
	said := make(chan struct{}, 100)
	s := w.connect(t, &sdk.ClientOptions{ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { said <- struct{}{} }})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-said; cancel() }()
	p := &sdk.CallToolParams{Name: "fixture_block"}
	p.SetProgressToken("p")
	_, err := s.CallTool(ctx, p)
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, callTool(t, s, "fixture_echo", map[string]any{"text": "still here"}).IsError)
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(w.kept.outcomes(), func(o engine.Outcome) bool { return o.Status == engine.Cancelled })
	}, time.Minute, 5*time.Millisecond)
}

// The stream that a session has besides those of its requests is there at once, also for who comes back to it.
func TestResumptionOfTheStreamOfASession(t *testing.T) {
	w := start(t, nil, nil).listen(t, HTTPOptions{})
	session := w.begin(t, "2025-11-25")
	for _, event := range []string{"", "_0"} {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url, nil)
		require.NoError(t, err)
		r.Header.Set("Accept", "text/event-stream")
		r.Header.Set(headerSession, session)
		r.Header.Set(headerVersion, "2025-11-25")
		if event != "" {
			r.Header.Set(headerLastEvent, event)
		}
		status := http.StatusConflict
		for status == http.StatusConflict { // until the server has seen that the other connection is gone
			answer, err := http.DefaultClient.Do(r)
			require.NoError(t, err, event)
			status = answer.StatusCode
			require.NoError(t, answer.Body.Close())
		}
		require.Equal(t, 200, status)
		stop()
	}
}

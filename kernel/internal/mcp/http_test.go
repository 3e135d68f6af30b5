package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/engine"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// web is a server over HTTP.
type web struct {
	*kernel
	url  string
	stop context.CancelFunc
	over chan error
}

func (k *kernel) listen(t testing.TB, o HTTPOptions) *web {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return k.listenOn(t, l, o)
}

func (k *kernel) listenOn(t testing.TB, l net.Listener, o HTTPOptions) *web {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	w := &web{kernel: k, url: "http://" + l.Addr().String() + endpoint, stop: stop, over: make(chan error, 1)}
	go func() { w.over <- k.server.ServeHTTP(ctx, l, o) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-w.over)
		http.DefaultClient.CloseIdleConnections()
	})
	return w
}

func (w *web) connect(t testing.TB, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, o)
	s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: w.url}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`

// do makes a request with headers, as pairs; it returns the answer with its body read.
func (w *web) do(t testing.TB, method, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	answer, text, err := w.try(t, method, body, headers...)
	require.NoError(t, err)
	return answer, text
}

// try is do for an answer that may not come.
func (w *web) try(t testing.TB, method, body string, headers ...string) (*http.Response, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.url, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for pair := range slices.Chunk(headers, 2) {
		if pair[0] == "Host" {
			r.Host = pair[1]
		} else {
			r.Header.Set(pair[0], pair[1])
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer, string(text), err
}

func TestHTTP(t *testing.T) {
	w := start(t, nil, nil).listen(t, HTTPOptions{})
	s := w.connect(t, nil)
	r := callTool(t, s, "fixture_echo", map[string]any{"text": "hello"})
	require.Equal(t, map[string]any{"text": "hello"}, r.StructuredContent)
	large := strings.Repeat("x", 1<<20)
	r = callTool(t, s, "fixture_echo", map[string]any{"text": large})
	require.Equal(t, map[string]any{"text": large}, r.StructuredContent)
}

// Each session has its own approvals; all share the provider.
func TestHTTPSessions(t *testing.T) {
	w := start(t, nil, nil).listen(t, HTTPOptions{})
	yes := &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve", "scope": "session"}}, nil
	}}
	a, b, dir := w.connect(t, yes), w.connect(t, nil), t.TempDir()
	r, err := a.CallTool(t.Context(), write(filepath.Join(dir, "a")))
	require.NoError(t, err)
	require.False(t, r.IsError, text(t, r))
	r, err = b.CallTool(t.Context(), write(filepath.Join(dir, "b")))
	require.NoError(t, err)
	require.True(t, r.IsError)
	pid := func(s *sdk.ClientSession) any { return callTool(t, s, "fixture_pid", nil).StructuredContent }
	require.Equal(t, pid(a), pid(b))
	require.NoError(t, a.Close())
	require.Eventually(t, func() bool {
		w.server.mu.Lock()
		defer w.server.mu.Unlock()
		return len(w.server.conversations) == 1
	}, time.Minute, 5*time.Millisecond)
}

// M11: a session that is not there is told as the transport wants it, and nothing half-made is left.
func TestUnknownSessions(t *testing.T) {
	w := start(t, nil, nil).listen(t, HTTPOptions{})
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	tests := []struct {
		name, method, body string
		headers            []string
		want               int
	}{
		{"a message of an old one", "POST", list, []string{headerSession, "OLD"}, 404},
		{"a stream of an old one", "GET", "", []string{headerSession, "OLD"}, 404},
		{"the end of an old one", "DELETE", "", []string{headerSession, "OLD"}, 404},
		{"a message of none", "POST", list, nil, 400},
		{"a notification of none", "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 400},
		{"a stream of none", "GET", "", nil, 400},
		{"the end of none", "DELETE", "", nil, 400},
		{"no message", "POST", "hello", nil, 400},
		{"no JSON", "POST", hello, []string{"Content-Type", "text/plain"}, 415},
		{"another method", "PUT", hello, nil, 405},
		{"another version", "POST", hello, []string{headerVersion, "1999-01-01"}, 400},
		{"a web page", "POST", hello, []string{"Origin", "https://example.com"}, 403},
		{"a page of nowhere", "POST", hello, []string{"Origin", "null"}, 403},
		{"a page of another port", "POST", hello, []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"a name that points here", "POST", hello, []string{"Host", "example.com"}, 403},
		{"a name that begins like ours", "POST", hello, []string{"Host", "127.0.0.1.example.com"}, 403},
		{"a page of somebody here", "POST", hello, []string{"Origin", "http://evil@127.0.0.1"}, 403},
		{"an id that would be rounded", "POST", strings.Replace(hello, `"id":1`, `"id":1.5`, 1), nil, 400},
		{"a question of a page", "OPTIONS", "", []string{"Origin", "https://example.com", "Access-Control-Request-Method", "POST"}, 403},
		{"another address", "POST", hello, []string{"Host", "10.0.0.1:80"}, 403},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			answer, body := w.do(t, test.method, test.body, test.headers...)
			require.Equal(t, test.want, answer.StatusCode, body)
			require.Empty(t, slices.Collect(w.server.sdk.Sessions()))
		})
	}
	for name, headers := range map[string][]string{
		"plain": nil, "by name": {"Host", "localhost:8321"}, "in IPv6": {"Host", "[::1]:1"},
		"its own page": {"Origin", strings.TrimSuffix(w.url, endpoint)},
	} {
		t.Run(name, func(t *testing.T) {
			answer, body := w.do(t, "POST", hello, headers...)
			require.Equal(t, 200, answer.StatusCode, body)
			answer, _ = w.do(t, "DELETE", "", headerSession, answer.Header.Get(headerSession))
			require.Equal(t, 204, answer.StatusCode)
		})
	}
}

func TestToken(t *testing.T) {
	w := start(t, nil, nil).listen(t, HTTPOptions{Token: "correct horse battery", Origins: []string{"https://example.com/"}})
	for header, want := range map[string]int{
		"": 401, "Bearer wrong": 401, "Bearer": 401, "Basic correct horse battery": 401, "Bearer correct horse": 401,
		"Bearer correct horse battery": 200, "bearer correct horse battery": 200,
	} {
		answer, _ := w.do(t, "POST", hello, "Authorization", header, "Origin", "https://example.com")
		require.Equal(t, want, answer.StatusCode, header)
		require.Equal(t, want == 401, answer.Header.Get("WWW-Authenticate") != "", header)
	}
}

// A page of an origin that is allowed gets past its browser, which asks first, and reads what the page needs.
func TestAllowedPage(t *testing.T) {
	w := start(t, nil, nil).listen(t, HTTPOptions{Token: "correct horse battery", Origins: []string{"https://example.com/"}})
	answer, _ := w.do(t, "OPTIONS", "", "Origin", "https://example.com", "Access-Control-Request-Method", "POST", "Access-Control-Request-Private-Network", "true")
	require.Equal(t, 204, answer.StatusCode)
	require.Equal(t, "https://example.com", answer.Header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, "true", answer.Header.Get("Access-Control-Allow-Private-Network"))
	for _, name := range []string{"Authorization", "Content-Type", "Last-Event-ID", headerSession, headerVersion} {
		require.Contains(t, answer.Header.Get("Access-Control-Allow-Headers"), name)
	}
	answer, body := w.do(t, "POST", hello, "Authorization", "Bearer correct horse battery", "Origin", "https://example.com")
	require.Equal(t, 200, answer.StatusCode, body)
	require.Equal(t, "https://example.com", answer.Header.Get("Access-Control-Allow-Origin"))
	require.Contains(t, answer.Header.Get("Access-Control-Expose-Headers"), headerSession)
	answer, _ = w.do(t, "POST", hello, "Origin", "https://example.com")
	require.Equal(t, 401, answer.StatusCode)
	answer, _ = w.do(t, "POST", hello, "Authorization", "Bearer correct horse battery")
	require.Empty(t, answer.Header.Get("Access-Control-Allow-Origin"), "no page asks")
}

// Whose call is running when the server ends is told so.
func TestShutdownAnswers(t *testing.T) {
	w := start(t, nil, nil).listen(t, HTTPOptions{})
	said := make(chan struct{}, 100)
	s := w.connect(t, &sdk.ClientOptions{ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { said <- struct{}{} }})
	results := make(chan *sdk.CallToolResult, 1)
	go func() {
		p := &sdk.CallToolParams{Name: "fixture_block"}
		p.SetProgressToken("p")
		r, _ := s.CallTool(t.Context(), p)
		results <- r
	}()
	<-said
	w.stop()
	r := <-results
	require.NotNil(t, r, "the call was lost")
	require.True(t, r.IsError)
	require.Contains(t, text(t, r), "was cancelled")
}

func TestOthersNeedAToken(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "example.com:80", "10.0.0.1:0", "localhost.example.com:80"} {
		require.ErrorContains(t, HTTPOptions{}.Check(address), "--token-env", address)
		require.NoError(t, HTTPOptions{Token: "t"}.Check(address))
	}
	require.ErrorContains(t, HTTPOptions{}.Check("8321"), "HOST:PORT")
	for _, address := range []string{"localhost:0", "127.0.0.1:0", "127.1.2.3:80", "[::1]:80"} {
		require.NoError(t, HTTPOptions{}.Check(address))
	}
}

func TestHTTPLimits(t *testing.T) {
	w := start(t, nil, nil).listen(t, HTTPOptions{MostSessions: 2, LongestMessage: 1000})
	for _, want := range []int{200, 200, 503} {
		answer, _ := w.do(t, "POST", hello)
		require.Equal(t, want, answer.StatusCode)
	}
	answer, _ := w.do(t, "POST", `{"a":"`+strings.Repeat("x", 1000)+`"}`)
	require.Equal(t, 413, answer.StatusCode)
}

// A message that does not come ends, and its sender keeps nobody else waiting.
func TestSlowBody(t *testing.T) {
	w := start(t, nil, nil).listen(t, HTTPOptions{})
	c, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(w.url, "http://"), endpoint))
	require.NoError(t, err)
	_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", endpoint)
	require.NoError(t, err)
	require.NoError(t, c.(*net.TCPConn).CloseWrite())
	answer, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Contains(t, string(answer), "400 Bad Request")
	require.NoError(t, c.Close())
}

// watched is a listener that tells when the server has closed a connection.
type watched struct {
	net.Listener
	closed chan net.Addr
}

type watchedConn struct {
	net.Conn
	closed chan net.Addr
}

func (w watched) Accept() (net.Conn, error) {
	c, err := w.Listener.Accept()
	return watchedConn{c, w.closed}, err
}

func (c watchedConn) Close() error {
	c.closed <- c.RemoteAddr()
	return c.Conn.Close()
}

// A client that does not read what it asked for loses its connection: what it holds up would else stay for ever.
func TestClientThatDoesNotRead(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	closed := make(chan net.Addr, 100)
	w := start(t, nil, nil).listenOn(t, watched{l, closed}, HTTPOptions{WritePatience: 100 * time.Millisecond})
	session := ""
	for session == "" { // on a slow machine the server takes anybody for such a client
		if answer, _, err := w.try(t, "POST", hello); err == nil {
			session = answer.Header.Get(headerSession)
		}
	}
	c, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer c.Close()
	body := toolCall(2, "fixture_big", `{"bytes":20000000}`)
	_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n%s: %s\r\nContent-Length: %d\r\n\r\n%s",
		endpoint, headerSession, session, len(body), body)
	require.NoError(t, err)
	for gone := range closed {
		if gone.String() == c.LocalAddr().String() {
			break
		}
	}
	require.Equal(t, engine.Completed, w.kept.outcomes()[0].Status)
	_, _, _ = w.try(t, "DELETE", "", headerSession, session)
}

// A client that lost the connection gets what it missed.
func TestResumption(t *testing.T) {
	w := start(t, nil, nil).listen(t, HTTPOptions{})
	const version = "2025-06-18"
	session := w.begin(t, version)
	s := w.post(t, session, version, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fixture_sequence","arguments":{},"_meta":{"progressToken":1}}}`)
	s.until("\n\n")
	first, _, _ := strings.Cut(s.read.String(), "\n\n")
	id := lastEvent(first)
	require.NotEmpty(t, id, first)
	s.stop()
	_ = s.body.Close()
	require.Eventually(t, func() bool { return len(w.kept.outcomes()) == 1 }, time.Minute, 5*time.Millisecond)
	require.Equal(t, engine.Completed, w.kept.outcomes()[0].Status, "a lost connection is no cancellation")
	require.Eventually(t, func() bool {
		_, missed := w.do(t, "GET", "", headerSession, session, "Last-Event-ID", id)
		return strings.Contains(missed, "1 package failed")
	}, time.Minute, 50*time.Millisecond)
}

// To end a session is to end its calls, at once.
func TestEndOfASessionCancels(t *testing.T) {
	w := start(t, nil, nil).listen(t, HTTPOptions{})
	began := make(chan struct{}, 1)
	s := w.connect(t, &sdk.ClientOptions{ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) {
		select {
		case began <- struct{}{}:
		default:
		}
	}})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p := &sdk.CallToolParams{Name: "fixture_block"}
		p.SetProgressToken(1)
		_, _ = s.CallTool(t.Context(), p)
	}()
	<-began
	answer, _ := w.do(t, "DELETE", "", headerSession, s.ID())
	require.Equal(t, 204, answer.StatusCode)
	require.Equal(t, engine.Cancelled, w.kept.outcomes()[0].Status)
	<-ended
}

// The server ends with calls running, in order and in time.
func TestHTTPShutdown(t *testing.T) {
	w := start(t, nil, nil).listen(t, HTTPOptions{})
	began := make(chan struct{}, 1)
	s := w.connect(t, &sdk.ClientOptions{ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) {
		select {
		case began <- struct{}{}:
		default:
		}
	}})
	go func() {
		p := &sdk.CallToolParams{Name: "fixture_block"}
		p.SetProgressToken(1)
		_, _ = s.CallTool(t.Context(), p)
	}()
	<-began
	asked := time.Now()
	w.stop()
	err := <-w.over
	w.over <- err
	require.NoError(t, err)
	require.Less(t, time.Since(asked), soon)
	require.Equal(t, engine.Cancelled, w.kept.outcomes()[0].Status)
}

// Eight clients at once lose nothing. MCP_LOAD_CALLS sets how many calls each makes; what they took is logged.
func TestLoad(t *testing.T) {
	calls := 50
	if set, err := strconv.Atoi(os.Getenv("MCP_LOAD_CALLS")); err == nil {
		calls = set
	}
	const clients = 8
	w := start(t, nil, nil).listen(t, HTTPOptions{})
	took := make([][]time.Duration, clients)
	var wait sync.WaitGroup
	for c := range clients {
		s := w.connect(t, nil)
		wait.Go(func() {
			for i := range calls {
				want := fmt.Sprintf("client %d call %d", c, i)
				began := time.Now()
				r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "fixture_echo", Arguments: map[string]any{"text": want}})
				if err != nil || r.IsError {
					t.Errorf("%s: %v", want, err)
					return
				}
				took[c] = append(took[c], time.Since(began))
				got, _ := json.Marshal(r.StructuredContent)
				if !bytes.Contains(got, []byte(want)) {
					t.Errorf("%s: got %s", want, got)
				}
			}
		})
	}
	wait.Wait()
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	require.Len(t, all, clients*calls)
	require.Len(t, w.kept.outcomes(), clients*calls)
	at := func(share float64) time.Duration {
		return all[min(len(all)-1, int(share*float64(len(all))))].Round(10 * time.Microsecond)
	}
	t.Logf("%d calls: p50 %v, p90 %v, p99 %v, p99.9 %v, longest %v", len(all), at(.5), at(.9), at(.99), at(.999), at(1))
}

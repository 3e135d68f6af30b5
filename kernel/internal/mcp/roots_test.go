//nolint:staticcheck // roots are deprecated in the newest version, and there as long as clients have them
package mcp

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/policy"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// startIn is a kernel that works in a folder, and asks nobody.
func startIn(t *testing.T, dir string, change func(*Options)) *kernel {
	t.Helper()
	var k *kernel
	free := []policy.Rule{{Name: "free", Match: policy.Match{Provider: "fixture"}, Action: policy.Allow}}
	k = start(t, free, func(o *Options) {
		o.Open = func(a gate.Approver) (*engine.Session, func(error), error) {
			k.kept.opened.Add(1)
			return o.Engine.Session(engine.SessionOptions{Approver: a, Journal: k.kept, WorkingDir: dir}), func(error) { k.kept.opened.Done() }, nil
		}
		if change != nil {
			change(o)
		}
	})
	return k
}

func root(dir string) *sdk.Root { return &sdk.Root{URI: "file://" + filepath.ToSlash(dir)} }

// outside is the text of a call that is denied by the roots of its client.
func outside(t *testing.T, s *sdk.ClientSession, p *sdk.CallToolParams) string {
	t.Helper()
	r, err := s.CallTool(t.Context(), p)
	require.NoError(t, err)
	require.True(t, r.IsError)
	require.Nil(t, r.StructuredContent)
	require.Equal(t, "permission_denied", r.Meta["agent/error"].(map[string]any)["category"])
	return text(t, r)
}

func runs(t *testing.T, s *sdk.ClientSession, p *sdk.CallToolParams) {
	t.Helper()
	r, err := s.CallTool(t.Context(), p)
	require.NoError(t, err)
	require.False(t, r.IsError, "%v", r.Content)
}

var echo = &sdk.CallToolParams{Name: "fixture_echo", Arguments: map[string]any{"text": "x"}}

// In any version of the protocol, a client that has roots stays within them, and goes along with their changes.
func TestRoots(t *testing.T) {
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25", multiRound} {
		t.Run(version, func(t *testing.T) {
			in, out := t.TempDir(), t.TempDir()
			k := startIn(t, in, nil)
			pipeIn, pipeOut, _ := k.pipe(t)
			client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, nil)
			s, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: pipeOut, Writer: pipeIn}, &sdk.ClientSessionOptions{ProtocolVersion: version})
			require.NoError(t, err)
			t.Cleanup(func() { _ = s.Close() })

			runs(t, s, write(filepath.Join(out, "a"))) // it has named none yet
			client.AddRoots(root(in), &sdk.Root{URI: "https://example.com/app"})
			require.Equal(t, "permission_denied: fixture.write was not run: "+filepath.Join(out, "b")+" is outside the roots of the client ("+in+
				"): add the folder to the roots of your client", outside(t, s, write(filepath.Join(out, "b"))))
			require.NoFileExists(t, filepath.Join(out, "b"))
			runs(t, s, write(filepath.Join(in, "b")))
			runs(t, s, echo)
			_, err = s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "hello"})
			require.NoError(t, err)

			client.AddRoots(root(out))
			client.RemoveRoots(root(in).URI)
			runs(t, s, write(filepath.Join(out, "c")))
			require.Contains(t, outside(t, s, write(filepath.Join(in, "c"))), "outside the roots of the client ("+out+")")
			require.Contains(t, outside(t, s, echo), "it is about the working directory, "+in+", which is outside")
			_, err = s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "hello"})
			require.ErrorContains(t, err, "permission_denied: /hello was not run: it is about the working directory")

			client.RemoveRoots(root(out).URI)
			require.Contains(t, outside(t, s, write(filepath.Join(out, "d"))), "as it names none that is a folder of this machine: https://example.com/app: ")
			client.RemoveRoots("https://example.com/app")
			require.Contains(t, outside(t, s, echo), "nothing is within the roots of the client, as it names none any more")

			var denied int
			for _, o := range k.kept.outcomes() { // as any denial
				if o.Status == engine.Denied {
					require.Equal(t, "the roots of the client", o.DecidedBy)
					denied++
				}
			}
			require.Equal(t, 6, denied)
		})
	}
}

// Clients over HTTP are narrowed each by its own.
func TestRootsOfTwo(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	w := startIn(t, a, nil).listen(t, HTTPOptions{})
	connect := func(dirs ...string) *sdk.ClientSession {
		client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, nil)
		for _, dir := range dirs {
			client.AddRoots(root(dir))
		}
		s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: w.url}, nil)
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	ofA, ofB, ofNone := connect(a), connect(b), connect()
	var together sync.WaitGroup
	for i := range 4 {
		name := fmt.Sprint(i)
		together.Go(func() {
			runs(t, ofA, write(filepath.Join(a, name)))
			outside(t, ofA, write(filepath.Join(b, name+"a")))
		})
		together.Go(func() {
			runs(t, ofB, write(filepath.Join(b, name)))
			outside(t, ofB, write(filepath.Join(a, name+"b")))
		})
		together.Go(func() {
			runs(t, ofNone, write(filepath.Join(a, name+"n")))
			runs(t, ofNone, write(filepath.Join(b, name+"n")))
		})
	}
	together.Wait()
}

// withRoots is a raw client that says that it has roots.
func (k *kernel) withRoots(t *testing.T) *rawClient {
	c := k.raw(t)
	c.send(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"raw","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	require.Equal(t, "i", c.next().ID)
	return c
}

// besides is the next message but for the word that a question is not open any more, which comes when it does.
func (c *rawClient) besides() message {
	c.t.Helper()
	for {
		if m := c.next(); m.Method != "notifications/cancelled" {
			return m
		}
	}
}

// asked is the question for roots; its id as JSON has it.
func (c *rawClient) asked() string {
	c.t.Helper()
	m := c.besides()
	require.Equal(c.t, "roots/list", m.Method)
	id, err := json.Marshal(m.ID)
	require.NoError(c.t, err)
	return string(id)
}

// Nobody waits for a client that does not name its roots but the call.
func TestRootsThatAreNotNamedYet(t *testing.T) {
	c := startIn(t, t.TempDir(), nil).withRoots(t)
	c.send(toolCall(1, "fixture_echo", `{"text":"x"}`))
	c.asked()
	c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	require.EqualValues(t, 2, c.next().ID)
}

// A client that has roots and does not name them has no call run.
func TestRootsThatAreNotNamed(t *testing.T) {
	dir := t.TempDir()
	c := startIn(t, dir, func(o *Options) { o.RootsPatience = time.Second }).withRoots(t)
	c.send(toolCall(1, "fixture_echo", `{"text":"x"}`))
	c.asked()
	m := c.besides()
	require.EqualValues(t, 1, m.ID)
	require.Contains(t, string(m.Result), "permission_denied: fixture.echo was not run: nothing is within the roots of the client, as the client did not name them within 1s")

	for id, late := 2, true; late; id++ { // another call, another chance, which a slow machine may miss
		c.send(toolCall(id, "fixture_echo", `{"text":"x"}`))
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[{"uri":"file://%s"}]}}`, c.asked(), dir))
		m := c.besides()
		require.EqualValues(t, id, m.ID)
		late = strings.Contains(string(m.Result), "did not name them within")
		require.Equal(t, late, strings.Contains(string(m.Result), "isError"))
	}
}

func TestAnswersForRoots(t *testing.T) {
	dir := t.TempDir()
	k := startIn(t, dir, nil)
	for _, test := range []struct{ name, answer, denied string }{
		{"a root", `"result":{"roots":[{"uri":"file://` + dir + `"}]}`, ""},
		{"one above it", `"result":{"roots":[{"uri":"file:///"}]}`, ""},
		{"one of several", `"result":{"roots":[{"uri":"git:///srv"},{"uri":"file://` + dir + `/","name":"here"}]}`, ""},
		{"none", `"result":{"roots":[]}`, ""},
		{"another", `"result":{"roots":[{"uri":"file:///nowhere"}]}`, "outside the roots of the client (/nowhere)"},
		{"only what is no folder", `"result":{"roots":[{"uri":"https://example.com"}]}`, "https://example.com: it is not of the form"},
		{"no list", `"result":{}`, "without a list"},
		{"null", `"result":{"roots":null}`, "without a list"},
		{"null for a root", `"result":{"roots":[null]}`, "is not of the form"},
		{"no roots after all", `"error":{"code":-32601,"message":"Method not found"}`, ""},
		{"a failure", `"error":{"code":-32603,"message":"disk on fire"}`, "disk on fire"},
		{"something else", `"result":{"roots":"all"}`, "nothing is within"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := k.withRoots(t)
			c.send(toolCall(1, "fixture_echo", `{"text":"x"}`))
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, c.asked(), test.answer))
			m := c.next()
			require.EqualValues(t, 1, m.ID)
			if test.denied == "" {
				require.NotContains(t, string(m.Result), "isError")
				return
			}
			require.Contains(t, string(m.Result), "permission_denied")
			require.Contains(t, string(m.Result), test.denied)
		})
	}
}

// What a client names has bounds, in the log and in what is said of a call.
func TestTooManyRoots(t *testing.T) {
	r := newRoots(slog.New(slog.NewTextHandler(t.Output(), nil)))
	named := func(uri string, n int) *policy.Fence {
		return r.named(&sdk.ListRootsResult{Roots: slices.Repeat([]*sdk.Root{{URI: uri}}, n)})
	}
	require.Len(t, named("file:///srv", 2*mostRoots).Folders, mostRoots)
	fence := named("https://example.com/"+strings.Repeat("x", 10_000), 2*mostRoots)
	require.Empty(t, fence.Folders)
	require.Less(t, len(fence.Closed), 2000)
}

// Calls that begin together ask once. One that is cancelled meanwhile does not take the answer away from the others.
func TestRootsAreAskedForOnce(t *testing.T) {
	dir := t.TempDir()
	c := startIn(t, dir, nil).withRoots(t)
	c.send(toolCall(1, "fixture_echo", `{"text":"x"}`))
	c.asked()
	for id := 2; id < 6; id++ {
		c.send(toolCall(id, "fixture_echo", `{"text":"x"}`))
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[{"uri":"file://%s"}]}}`, c.asked(), dir))
	for range 4 {
		require.NotContains(t, string(c.besides().Result), "isError")
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`, toolCall(6, "fixture_echo", `{"text":"x"}`))
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[{"uri":"file:///nowhere"}]}}`, c.asked()))
	require.Contains(t, string(c.besides().Result), "permission_denied")
}

// From 2026-07-28 on the question is the answer to the call. It comes before the one for an approval.
func TestRootsBetweenTwoRequests(t *testing.T) {
	dir := t.TempDir()
	k := start(t, nil, nil)
	manual := &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{
			Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}}, RootsV2: &sdk.RootCapabilities{},
		},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	}
	s := k.connect(t, manual, multiRound)
	call := func(path, state string, answers sdk.InputResponseMap) *sdk.CallToolResult {
		p := write(path)
		p.RequestState, p.InputResponses = state, answers
		r, err := s.CallTool(t.Context(), p)
		require.NoError(t, err)
		return r
	}
	within := func(dir string) sdk.InputResponseMap {
		return sdk.InputResponseMap{rootsKey: &sdk.ListRootsResult{Roots: []*sdk.Root{root(dir)}}}
	}
	first := call(filepath.Join(dir, "a"), "", nil)
	require.True(t, first.NeedsInput())
	require.Len(t, first.InputRequests, 1)
	require.IsType(t, &sdk.ListRootsParams{}, first.InputRequests[rootsKey])

	second := call(filepath.Join(dir, "a"), first.RequestState, within(dir))
	require.True(t, second.NeedsInput())
	require.IsType(t, &sdk.ElicitParams{}, second.InputRequests[approval])
	yes := &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve"}}
	require.False(t, call(filepath.Join(dir, "a"), second.RequestState, sdk.InputResponseMap{approval: yes}).IsError)
	require.FileExists(t, filepath.Join(dir, "a"))

	require.Contains(t, text(t, call(filepath.Join(dir, "b"), "", within(t.TempDir()))), "outside the roots of the client")
	require.Contains(t, text(t, call(filepath.Join(dir, "b"), "", sdk.InputResponseMap{approval: yes})), "without a list", "an answer to what was not asked")
	require.NoFileExists(t, filepath.Join(dir, "b"))
}

// Who says nothing of roots is not asked, and not narrowed.
func TestWithoutRoots(t *testing.T) {
	for _, version := range []string{"2025-06-18", multiRound} {
		k := startIn(t, t.TempDir(), nil)
		s := k.connect(t, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}}, version)
		runs(t, s, write(filepath.Join(t.TempDir(), "a")))
	}
}

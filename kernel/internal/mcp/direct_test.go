package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/policy"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// sessionless is what a client says of itself from 2026-07-28 on.
func sessionless(capabilities string) string {
	return fmt.Sprintf(`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":%s`, multiRound, capabilities)
}

func callWith(id int, name, args, meta string) string {
	return strings.Replace(toolCall(id, name, args), `"arguments"`, `"_meta":{`+meta+`},"arguments"`, 1)
}

// wentDirect tells an answer from one of the SDK by the order of its members.
func (c *rawClient) wentDirect() bool { return strings.HasSuffix(c.lines.Text(), "]}}") }

// introduced has a client make the first call, which the SDK judges.
func (c *rawClient) introduced(meta string) {
	c.t.Helper()
	if meta == "" {
		c.initialise("2025-06-18")
	}
	c.send(callWith(0, "fixture_echo", `{"text":"first"}`, meta))
	require.Nil(c.t, c.next().Error)
	require.False(c.t, c.wentDirect())
}

func TestDirectAnswersAreThoseOfTheSDK(t *testing.T) {
	k := start(t, nil, nil)
	for _, meta := range []string{"", sessionless("{}")} {
		c := k.raw(t)
		c.introduced(meta)
		bySDK := strings.TrimPrefix(meta+`,"io.modelcontextprotocol/odd":1`, ",")
		for _, test := range []struct {
			name, tool, args string
			direct           bool
		}{
			{"a result", "fixture_echo", `{"text":"a\n\"<é>"}`, true},
			{"a large one", "fixture_big", `{"bytes":100000}`, true},
			{"an empty one", "fixture_print", `{"bytes":1}`, true},
			{"output and exit code", "fixture_sequence", `{}`, true},
			{"a failure", "fixture_refuse", `{}`, true},
			{"a denial", "fixture_write", `{"path":"a","content":"b"}`, true},
			{"arguments that do not fit", "fixture_echo", `{"text":1}`, true},
			{"arguments that are none", "fixture_echo", `[]`, false},
			{"a number that would be another", "fixture_echo", `{"text":12345678901234567890}`, false},
			{"no such tool", "fixture_nothing", `{}`, false},
		} {
			t.Run(test.name+", "+meta, func(t *testing.T) {
				answer := func(meta string, direct bool) string {
					c.send(callWith(7, test.tool, test.args, meta))
					c.next()
					require.Equal(t, direct, c.wentDirect(), c.lines.Text())
					return c.lines.Text()
				}
				require.JSONEq(t, answer(bySDK, false), answer(meta, test.direct))
			})
		}
	}
}

// Whoever says something else of itself is judged by the SDK again, and whoever can be asked between requests always is.
func TestWhoDoesNotGoDirect(t *testing.T) {
	k := start(t, nil, nil)
	c := k.raw(t)
	c.introduced(sessionless("{}"))
	for _, test := range []struct {
		name, meta    string
		fails, direct bool
	}{
		{name: "the same", meta: sessionless("{}"), direct: true},
		{name: "with a token", meta: sessionless("{}") + `,"progressToken":1`, direct: true},
		{name: "with something of its own", meta: sessionless("{}") + `,"example.com/a":{}`, direct: true},
		{name: "other capabilities that are none", meta: sessionless(`[]`), fails: true},
		{name: "still none", meta: sessionless(`[]`), fails: true},
		{name: "who can be asked", meta: sessionless(`{"elicitation":{}}`)},
		{name: "who can be asked, again", meta: sessionless(`{"elicitation":{}}`)},
		{name: "the first, who has to be judged again", meta: sessionless("{}")},
		{name: "which it was", meta: sessionless("{}"), direct: true},
		{name: "a version that there is not", meta: strings.Replace(sessionless("{}"), multiRound, "2999-01-01", 1), fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c.send(callWith(1, "fixture_echo", `{"text":"a"}`, test.meta))
			m := c.next()
			require.Equal(t, test.fails, m.Error != nil, c.lines.Text())
			require.Equal(t, test.direct, c.wentDirect(), c.lines.Text())
		})
	}
}

// M07, M06: a call that went past the SDK is cancelled as any other is, by word and by leaving.
func TestDirectCallsAreCancelled(t *testing.T) {
	for _, meta := range []string{"", sessionless("{}") + ","} {
		k := start(t, nil, nil)
		c := k.raw(t)
		c.introduced(strings.TrimSuffix(meta, ","))
		block := func(id int) {
			c.send(callWith(id, "fixture_block", `{}`, meta+`"progressToken":"p"`))
			require.Equal(t, "notifications/progress", c.next().Method)
		}
		block(1)
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		require.Eventually(t, func() bool { return len(k.kept.outcomes()) == 2 }, time.Minute, 5*time.Millisecond)
		require.Equal(t, engine.Cancelled, k.kept.outcomes()[1].Status)
		c.send(callWith(2, "fixture_echo", `{"text":"a"}`, strings.TrimSuffix(meta, ",")))
		require.EqualValues(t, 2, c.answer().ID)
		require.True(t, c.wentDirect())

		block(3)
		require.NoError(t, c.in.Close())
		require.NoError(t, <-c.ended)
		k.server.Close()
		require.Len(t, k.kept.outcomes(), 4)
		require.Equal(t, engine.Cancelled, k.kept.outcomes()[3].Status)
	}
}

// What was asked before the client stopped writing is answered, be it with its cancellation.
func TestDirectCallsAreAnsweredAtTheEnd(t *testing.T) {
	c := start(t, nil, nil).raw(t)
	c.introduced("")
	for id := 1; id <= 20; id++ {
		c.send(toolCall(id, "fixture_echo", `{"text":"a"}`))
	}
	require.NoError(t, c.in.Close())
	answered := map[any]bool{}
	for range 20 {
		answered[c.next().ID] = true
	}
	require.Len(t, answered, 20)
	require.NoError(t, <-c.ended)
}

// Answers that are not read are kept for twice as many calls as may run at a time; then there are no more, until they are.
func TestDirectCallsOfAClientThatDoesNotRead(t *testing.T) {
	const most = 2
	k := start(t, nil, func(o *Options) { o.MostCalls = most })
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	s := newStdio(k.server, in, out)
	ss, err := k.server.sdk.Connect(t.Context(), s, nil)
	require.NoError(t, err)
	s.direct.session.Store(ss)
	c := &rawClient{t: t, in: toServer, lines: bufio.NewScanner(fromServer)}
	c.introduced("")
	for id := 1; id <= 2*most; id++ {
		c.send(toolCall(id, "fixture_echo", `{"text":"a"}`))
		require.Eventually(t, func() bool { return s.out.unread.Load() == int64(id) }, time.Minute, time.Millisecond)
	}
	c.send(toolCall(99, "fixture_echo", `{"text":"a"}`))
	refused := func() bool { return len(s.out.queue) == 2*most } // with all answers but the one that is being written
	require.Eventually(t, refused, time.Minute, time.Millisecond)
	answered := map[any]bool{}
	for range 2*most + 1 { // in whatever order the calls end
		m := c.next()
		answered[m.ID] = true
		if m.ID == 99.0 {
			require.Equal(t, codeBusy, m.Error.Code)
			require.Contains(t, m.Error.Message, "read them first")
			continue
		}
		require.Nil(t, m.Error)
		require.True(t, c.wentDirect())
	}
	require.Len(t, answered, 2*most+1)
	c.send(toolCall(100, "fixture_echo", `{"text":"a"}`))
	require.Nil(t, c.next().Error)
	require.NoError(t, toServer.Close())
	require.NoError(t, ss.Wait())
	s.out.leave()
}

// A person is asked within a call, where the protocol has it so.
func TestDirectCallsAskAPerson(t *testing.T) {
	k := start(t, []policy.Rule{}, nil)
	var asked atomic.Int32
	s := k.connect(t, &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		asked.Add(1)
		return &sdk.ElicitResult{Action: "decline"}, nil
	}}, "2025-06-18")
	for i := range 3 {
		r := callTool(t, s, "fixture_write", map[string]any{"path": filepath.Join(t.TempDir(), "a"), "content": "b"})
		require.True(t, r.IsError)
		require.EqualValues(t, i+1, asked.Load(), text(t, r))
	}
}

// A fault of ours is the result of the call, and the session goes on.
func TestDirectCallsSurviveAFault(t *testing.T) {
	var broken atomic.Bool
	k := start(t, nil, func(o *Options) {
		o.Operations = func() []engine.Operation {
			if broken.Load() {
				panic("the moon fell")
			}
			return o.Engine.Operations()
		}
	})
	c := k.raw(t)
	c.introduced("")
	broken.Store(true)
	c.send(toolCall(1, "fixture_echo", `{"text":"a"}`))
	require.Contains(t, string(c.next().Result), "the moon fell")
	require.True(t, c.wentDirect())
	broken.Store(false)
	c.send(toolCall(2, "fixture_echo", `{"text":"a"}`))
	require.NotContains(t, string(c.next().Result), "the moon fell")
}

// FuzzPlainCall holds what is read here to what the SDK reads.
func FuzzPlainCall(f *testing.F) {
	for _, seed := range []string{
		toolCall(1, "a", `{"b":1}`), callWith(1, "a", `{}`, sessionless("{}")), callWith(1, "a", `{}`, `"progressToken":1.5`),
		`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"a","name":"b","Name":"c","arguments":null,"_meta":null}}`,
		`{"jsonrpc":"2.0","ID":1,"id":2,"method":"tools/call","params":{"name":"\ud800"}}`, `{"jsonrpc":"2.0","id":1e2,"method":"tools/call","params":{}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r := plainCall([]byte(line))
		if r == nil {
			return
		}
		m, err := jsonrpc.DecodeMessage([]byte(line))
		require.NoError(t, err)
		other, ok := m.(*jsonrpc.Request)
		require.True(t, ok)
		require.Equal(t, other.ID, r.ID)
		require.Equal(t, other.Method, r.Method)
		require.JSONEq(t, string(other.Params), string(r.Params))
		var params sdk.CallToolParamsRaw
		require.NoError(t, json.Unmarshal(r.Params, &params))
		call, ok := r.Extra.(*plainRequest)
		require.True(t, ok)
		require.Equal(t, params.Name, call.name)
		require.Equal(t, string(params.Arguments), string(call.arguments))
		require.Equal(t, params.GetProgressToken(), call.token)
	})
}

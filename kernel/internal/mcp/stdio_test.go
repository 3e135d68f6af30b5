package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/stretchr/testify/require"
)

// rawClient is a client that writes what it likes.
type rawClient struct {
	t     testing.TB
	in    io.WriteCloser
	lines *bufio.Scanner
	ended chan error
}

type message struct {
	ID     any
	Method string
	Params map[string]any
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

func (k *kernel) raw(t testing.TB) *rawClient {
	in, out, ended := k.pipe(t)
	c := &rawClient{t: t, in: in, lines: bufio.NewScanner(out), ended: ended}
	c.lines.Buffer(nil, 64<<20)
	return c
}

func (c *rawClient) send(lines ...string) {
	c.t.Helper()
	for _, line := range lines {
		_, err := io.WriteString(c.in, line+"\n")
		require.NoError(c.t, err)
	}
}

// next reads a message: M01, everything is one.
func (c *rawClient) next() message {
	c.t.Helper()
	require.True(c.t, c.lines.Scan(), "the server has ended")
	var m message
	require.NoError(c.t, json.Unmarshal(c.lines.Bytes(), &m), c.lines.Text())
	return m
}

// answer is the next message but for the progress of what still runs, which a slow machine has come more often.
func (c *rawClient) answer() message {
	c.t.Helper()
	for {
		if m := c.next(); m.Method != "notifications/progress" {
			return m
		}
	}
}

func (c *rawClient) initialise(version string) {
	c.t.Helper()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`, version),
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	require.Equal(c.t, "i", c.next().ID)
}

func toolCall(id int, name, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, name, args)
}

// What is no message is answered, and the session goes on.
func TestGarbage(t *testing.T) {
	k := start(t, nil, nil)
	c := k.raw(t)
	c.initialise("2025-06-18")
	tests := []struct {
		name, line string
		code       int
	}{
		{"no JSON", "hello", -32700},
		{"half of it", `{"jsonrpc":"2.0","id":1,`, -32700},
		{"another JSON", `{"a":1}`, -32600},
		{"another version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, -32600},
		{"a number", `7`, -32600},
		{"something behind a message", `{"jsonrpc":"2.0","id":1,"method":"ping"}x`, -32700},
		{"two messages in a line", `{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"ping"}`, -32700},
		{"an id behind another", `{"jsonrpc":"2.0","method":"ping","params":{"id":1},"id":1.5}`, -32600},
		{"no batch", `[]`, -32600},
		{"a batch in a batch", `[[]]`, -32600},
		{"control characters", "\x00\x1b[31m", -32700},
		{"deep", strings.Repeat("[", 100_000), -32600},
		{"long", `"` + strings.Repeat("x", longestMessage) + `"`, -32600},
		{"an unknown method", `{"jsonrpc":"2.0","id":2,"method":"nothing"}`, -32601},
		{"params that are none", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":7}`, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c.send(test.line)
			m := c.next()
			require.NotNil(t, m.Error)
			if test.code != 0 {
				require.Equal(t, test.code, m.Error.Code, m.Error.Message)
			}
		})
	}
	c.send("", "  ", `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	require.EqualValues(t, 3, c.next().ID)
}

func TestBatch(t *testing.T) {
	c := start(t, nil, nil).raw(t)
	c.initialise("2025-03-26")
	c.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`)
	got := []any{c.next().ID, c.next().ID}
	require.ElementsMatch(t, []any{1.0, 2.0}, got)
}

// M07: nobody answers a request that was cancelled; to cancel anything else is nothing.
func TestCancelledGetsNoAnswer(t *testing.T) {
	k := start(t, nil, nil)
	c := k.raw(t)
	c.initialise("2025-06-18")
	c.send(strings.Replace(toolCall(1, "fixture_block", "{}"), `"arguments"`, `"_meta":{"progressToken":"p"},"arguments"`, 1))
	require.Equal(t, "notifications/progress", c.next().Method)
	cancel := func(id string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"enough"}}`, id)
	}
	c.send(cancel("99"), cancel(`"1"`), cancel("1"), cancel("1"), cancel("null"), cancel("{}"))
	require.Eventually(t, func() bool { return len(k.kept.outcomes()) == 1 }, time.Minute, 5*time.Millisecond)
	require.Equal(t, engine.Cancelled, k.kept.outcomes()[0].Status)
	c.send(toolCall(2, "fixture_echo", `{"text":"a"}`), cancel("1"))
	require.EqualValues(t, 2, c.answer().ID)
	c.send(cancel("2"), `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	require.EqualValues(t, 3, c.answer().ID)
}

// M08: the token comes back as it was, in type and value.
func TestProgressTokenKeepsItsType(t *testing.T) {
	c := start(t, nil, nil).raw(t)
	c.initialise("2025-06-18")
	for i, token := range []any{"seven", 7.0} {
		encoded, err := json.Marshal(token)
		require.NoError(t, err)
		c.send(strings.Replace(toolCall(i, "fixture_sequence", "{}"), `"arguments"`, `"_meta":{"progressToken":`+string(encoded)+`},"arguments"`, 1))
		m := c.next()
		for ; m.Method != ""; m = c.next() {
			require.Equal(t, token, m.Params["progressToken"])
		}
		require.EqualValues(t, i, m.ID)
	}
}

// A flood is answered as far as there is room, and refused beyond.
func TestFlood(t *testing.T) {
	c := start(t, nil, func(o *Options) { o.MostCalls = 8 }).raw(t)
	c.initialise("2025-06-18")
	const sent = 200
	go func() {
		for i := range sent {
			if _, err := io.WriteString(c.in, toolCall(i, "fixture_echo", `{"text":"a"}`)+"\n"); err != nil {
				return
			}
		}
	}()
	answered := map[any]bool{}
	for range sent {
		m := c.next()
		if m.Error != nil {
			require.Equal(t, codeBusy, m.Error.Code)
		}
		require.False(t, answered[m.ID], "twice")
		answered[m.ID] = true
	}
	c.send(toolCall(sent, "fixture_echo", `{"text":"a"}`))
	require.Nil(t, c.next().Error)
}

// soon is what nothing takes that does not wait for something that never comes, on the slowest machine.
const soon = 30 * time.Second

// M06: the session ends with its client, also when that leaves in the middle of a call, and the call is cancelled.
func TestClientLeaves(t *testing.T) {
	for _, how := range []string{"between calls", "during a call", "during a call, deaf", "without a word", "without reading"} {
		t.Run(how, func(t *testing.T) {
			k := start(t, nil, nil)
			c := k.raw(t)
			name := map[string]string{"during a call": "fixture_block", "during a call, deaf": "fixture_deaf"}[how]
			if how != "without a word" {
				c.initialise("2025-06-18")
			}
			if name != "" {
				c.send(strings.Replace(toolCall(1, name, "{}"), `"arguments"`, `"_meta":{"progressToken":"p"},"arguments"`, 1))
				require.Equal(t, "notifications/progress", c.next().Method)
			}
			if how == "without reading" {
				c.send(toolCall(1, "fixture_big", `{"bytes":1000000}`))
			}
			left := time.Now()
			require.NoError(t, c.in.Close())
			require.NoError(t, <-c.ended)
			require.Less(t, time.Since(left), soon)
			k.server.Close() // which waits for what was killed
			if name != "" {
				require.Len(t, k.kept.outcomes(), 1)
				require.Equal(t, engine.Cancelled, k.kept.outcomes()[0].Status)
			}
		})
	}
}

// M04 on the wire, and results too large for the SDK's way: they come whole, in order, and nothing in them is taken for a
// label.
func TestLargeResults(t *testing.T) {
	k := start(t, nil, nil)
	c := k.raw(t)
	c.initialise("2025-06-18")
	for i, want := range []string{"", "small", strings.Repeat("large\n\"\\\u00e9", 100_000), strings.Repeat(labelMark+strings.Repeat("A", 26), 2000)} {
		args, err := json.Marshal(map[string]string{"text": want})
		require.NoError(t, err)
		c.send(toolCall(i, "fixture_echo", string(args)))
		m := c.next()
		require.EqualValues(t, i, m.ID)
		var result struct {
			Content           []struct{ Type, Text string }
			StructuredContent struct{ Text string }
		}
		require.NoError(t, json.Unmarshal(m.Result, &result))
		require.Equal(t, want, result.StructuredContent.Text)
		require.Len(t, result.Content, 1)
		require.Contains(t, result.Content[0].Text, "rendered {")
	}
}

// What fell out of a cancelled answer is not kept.
func TestParcelsAreForgotten(t *testing.T) {
	var p parcels
	label := p.text(strings.Repeat("x", largeFrom))
	require.Len(t, label, labelLength)
	p.drop([]byte(`{"content":[{"text":"` + label + `"}]}`))
	require.Empty(t, p.kept)
	var none *parcels
	require.Equal(t, "a", none.text("a"))
}

// Every version that clients are known to speak is answered in itself.
func TestVersions(t *testing.T) {
	k := start(t, nil, nil)
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25", "1999-01-01": "2025-11-25",
	} {
		t.Run(asked, func(t *testing.T) {
			c := k.raw(t)
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`, asked))
			var result struct{ ProtocolVersion string }
			require.NoError(t, json.Unmarshal(c.next().Result, &result))
			require.Equal(t, want, result.ProtocolVersion)
			c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, toolCall(2, "fixture_echo", `{"text":"a"}`))
			require.Nil(t, c.next().Error)
		})
	}
}

// A client of a version to come is spoken to in the version that it was answered with, questions among it.
func TestVersionToCome(t *testing.T) {
	c := start(t, nil, nil).raw(t)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2031-01-01","capabilities":{"elicitation":{}},"clientInfo":{"name":"raw","version":"1"}}}`)
	require.Contains(t, string(c.next().Result), newestGreeting)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, toolCall(2, "fixture_write", `{"path":"/nowhere/a","content":"x"}`))
	m := c.next()
	require.Equal(t, "elicitation/create", m.Method)
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"action":"decline"}}`, m.ID))
	require.Contains(t, string(c.next().Result), "refused by the person at raw")
}

// FuzzParse holds the transport to one answer for what is no message, which is a message itself.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"x", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[{"jsonrpc":"2.0","id":1,"result":{}},7,[]]`, `{"jsonrpc":"2.0","id":[1],"method":"a"}`, `[null]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		line = strings.TrimSpace(line)
		if line == "" {
			return
		}
		s := newStdio(&Server{options: Options{MostCalls: 1, Log: slog.New(slog.DiscardHandler)}}, io.NopCloser(strings.NewReader("")), io.Discard)
		messages := s.parse([]byte(line))
		for _, m := range messages {
			require.NotNil(t, m)
			s.admit(m)
		}
		close(s.out.queue)
		require.True(t, len(messages) > 0 || len(s.out.queue) > 0, "neither a message nor an answer")
		for answer := range s.out.queue {
			var m message
			require.NoError(t, json.Unmarshal(bytes.Join(answer.text, nil), &m))
			require.NotNil(t, m.Error)
		}
	})
}

package mcp

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/stretchr/testify/require"
)

// M06: a client that reads nothing of what it is sent does not keep the server, whatever it sends and however it leaves.
func TestClientThatNeverReads(t *testing.T) {
	printing := strings.Replace(toolCall(1, "fixture_big", `{"bytes":1000000}`), `"arguments"`, `"_meta":{"progressToken":"p"},"arguments"`, 1)
	tests := []struct{ name, lines string }{
		{"garbage", "x\n"},
		{"requests of one id", toolCall(1, "fixture_echo", `{"text":"a"}`) + "\n"},
		{"requests", `{"jsonrpc":"2.0","id":"A","method":"tools/list"}` + "\n"},
		{"a large batch", "[" + strings.Repeat("1,", longestBatch-1) + "1]\n"},
		{"progress", printing + "\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := start(t, nil, nil).raw(t)
			c.initialise("2025-06-18")
			sent := make(chan struct{})
			go func() {
				defer close(sent)
				for i := range 5000 {
					line := strings.Replace(test.lines, `"A"`, strconv.Itoa(i), 1)
					if _, err := io.WriteString(c.in, line); err != nil {
						return
					}
				}
			}()
			select {
			case <-sent:
			case <-time.After(time.Second): // nothing more is taken
			}
			left := time.Now()
			require.NoError(t, c.in.Close())
			err := <-c.ended
			require.Less(t, time.Since(left), soon)
			if err != nil {
				require.ErrorIs(t, err, errUnread)
			}
		})
	}
}

// What a client has asked for before it closed its end is answered, as it may still read.
func TestHalfClosed(t *testing.T) {
	c := start(t, nil, nil).raw(t)
	c.initialise("2025-06-18")
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	_, err := io.WriteString(c.in, `{"jsonrpc":"2.0","id":2,"method":"ping"}`) // without an end of the line
	require.NoError(t, err)
	require.NoError(t, c.in.Close())
	answered := []any{c.next().ID, c.next().ID}
	require.ElementsMatch(t, []any{1.0, 2.0}, answered)
	require.False(t, c.lines.Scan())
	require.NoError(t, <-c.ended)
}

// An answer has the id of its request, or none: one that would be rounded is refused.
func TestStrangeIDs(t *testing.T) {
	c := start(t, nil, nil).raw(t)
	c.initialise("2025-06-18")
	tests := []struct {
		name, id string
		taken    bool
	}{
		{"nothing", `null`, false},
		{"a fraction", `1.5`, false},
		{"whole, as a fraction", `1.0`, false},
		{"an exponent", `1e3`, false},
		{"too large to be exact", `9007199254740993`, false},
		{"far too large", `1e400`, false},
		{"the largest that is exact", `9007199254740991`, true},
		{"negative", `-5`, true},
		{"zero", `0`, true},
		{"an empty text", `""`, true},
		{"a text", `"1.5"`, true},
		{"a truth", `true`, false},
		{"an object", `{}`, false},
		{"a list", `[1]`, false},
	}
	for _, test := range tests {
		for _, line := range []string{`{"jsonrpc":"2.0","id":ID,"method":"ping"}`, `{ "method" : "ping", "jsonrpc":"2.0", "id" : ID }`} {
			t.Run(test.name, func(t *testing.T) {
				c.send(strings.Replace(line, "ID", test.id, 1))
				require.True(t, c.lines.Scan())
				var m struct {
					ID     json.RawMessage
					Result any
				}
				require.NoError(t, json.Unmarshal(c.lines.Bytes(), &m))
				if test.taken {
					require.Equal(t, test.id, string(m.ID))
					require.NotNil(t, m.Result)
				} else {
					require.Nil(t, m.Result)
					require.Equal(t, "null", string(m.ID))
				}
			})
		}
	}
}

// What is out of place has a code that clients know.
func TestOutOfPlace(t *testing.T) {
	c := start(t, nil, nil).raw(t)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	require.Equal(t, -32600, c.next().Error.Code)
	c.initialise("2025-06-18")
	c.send(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`)
	require.Equal(t, -32600, c.next().Error.Code)
	c.send(strings.Replace(toolCall(3, "fixture_block", "{}"), `"arguments"`, `"_meta":{"progressToken":"p"},"arguments"`, 1))
	require.Equal(t, "notifications/progress", c.next().Method)
	c.send(toolCall(3, "fixture_echo", `{"text":"a"}`)) // while the other runs
	m := c.answer()
	require.Nil(t, m.ID)
	require.Equal(t, -32600, m.Error.Code)
	c.send(`[` + strings.Repeat(`{"jsonrpc":"2.0","method":"a"},`, longestBatch) + `7]`)
	require.Equal(t, -32600, c.answer().Error.Code)
	c.send(`{"jsonrpc":"2.0","id":4,"method":"logging/setLevel","params":{"level":"loud"}}`)
	require.Equal(t, -32602, c.answer().Error.Code)
}

// A client whose log takes its time does not keep the others waiting.
func TestSlowBeginning(t *testing.T) {
	opening, carryOn := make(chan struct{}), make(chan struct{})
	k := start(t, nil, func(o *Options) {
		open := o.Open
		o.Open = func(a gate.Approver) (*engine.Session, func(error), error) {
			close(opening)
			<-carryOn
			return open(a)
		}
	})
	slow, other := k.raw(t), k.raw(t)
	slow.initialise("2025-06-18")
	other.initialise("2025-06-18")
	slow.send(toolCall(1, "fixture_echo", `{"text":"a"}`))
	<-opening
	other.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	require.Nil(t, other.next().Error)
	close(carryOn)
	require.Nil(t, slow.next().Error)
}

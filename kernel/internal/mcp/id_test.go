package mcp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExactID(t *testing.T) {
	for message, exact := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"method":"a"}`:           true,
		`{"jsonrpc":"2.0","id":"a","method":"a"}`:         true,
		`{"method":"a","jsonrpc":"2.0","id":-7}`:          true,
		`{"method":"a","id" : 7 , "jsonrpc":"2.0"}`:       true,
		`{"jsonrpc":"2.0","method":"a"}`:                  true,
		`{"jsonrpc":"2.0","ID":1.5,"id":7,"method":"a"}`:  true,
		`{"jsonrpc":"2.0","id":1.5,"id":7}`:               true,
		`{"method":"a","params":{"b":1,"id":1.5},"id":7}`: true,
		`no message`: true,
		`{"jsonrpc":"2.0","id":null,"method":"a"}`:                                        false,
		`{"jsonrpc":"2.0","id":1.5,"method":"a"}`:                                         false,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}`:                            false,
		`{"jsonrpc":"2.0","method":"a","params":{"id":7},"id":1.5}`:                       false,
		`{"jsonrpc":"2.0","method":"a","params":{"b":{"id":7}},"id":1e3}`:                 false,
		`{"jsonrpc":"2.0","id":7,"method":"a","id":1.5}`:                                  false,
		`{"jsonrpc":"2.0","id":7,"method":"a","i\u0064":1.5}`:                             false,
		`{"id":1.5,"method":"a","params":{"a":"` + strings.Repeat("x", 30) + `","id":7}}`: false,
		`{"id":1.5,"method":"a","params":{"a":{"b":1,"id":7}}}`:                           false,
		`{"id":1.5,"method":"a","params":"` + strings.Repeat("x", 30) + `,\"id\":7"}`:     false,
		`{"jsonrpc":"2.0","id":"a","method":"a","params":{"id":2},"id":1.5}`:              false,
	} {
		require.Equal(t, exact, exactID([]byte(message)), message)
	}
}

func TestAlone(t *testing.T) {
	for message, want := range map[string]bool{
		`{}`: true, `{} `: true, `[{}]`: true, `{"a":"}"}`: true, `{"a":"\"}"}`: true, `{"a":"\\"}`: true, `{"a":[{}]`: true, `x`: true, `"`: true, `"\`: true,
		`{}x`: false, `{}{}`: false, `{} {}`: false, `{}}`: false, `{"a":"\\"}"`: false, `}x`: false,
	} {
		require.Equal(t, want, alone([]byte(message)), message)
	}
}

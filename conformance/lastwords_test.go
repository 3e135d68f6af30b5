package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReasonOfADeath(t *testing.T) {
	tests := []struct {
		name, text, reason string
		trace              bool
	}{
		{"nothing", "", "", false},
		{"Go", "starting\npanic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/a.go:3 +0x18\nexit status 2\n", "panic: boom", true},
		{"Python", "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nModuleNotFoundError: No module named 'grpc'\n", "ModuleNotFoundError: No module named 'grpc'", true},
		{"Node.js", "/a.js:1\nthrow new Error('boom')\n^\n\nError: boom\n    at Object.<anonymous> (/a.js:1:7)\n\nNode.js v22.0.0\n", "Error: boom", true},
		{"Java", "Exception in thread \"main\" java.lang.RuntimeException: boom\n\tat Main.main(Main.java:3)\n", "Exception in thread \"main\" java.lang.RuntimeException: boom", true},
		{"Rust", "thread 'main' panicked at src/main.rs:2:5:\nboom\n", "thread 'main' panicked at src/main.rs:2:5:", true},
		{"plain words", "one\ntwo\n\nthree\nfour\n", "two; three; four", false},
		{"words for a person", "This is a provider of agent.\n  Look at https://example.com:8080\n", "This is a provider of agent.; Look at https://example.com:8080", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.reason, reasonIn(test.text))
			require.Equal(t, test.trace, isTrace(test.text))
		})
	}
}

//go:build linux

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// A process in the background is at a terminal of its own.
func TestTyping(t *testing.T) {
	h := start(t, fields{"env": fields{"TERM": "xterm"}})
	t.Run("the terminal", func(t *testing.T) {
		id := backgrounded(t, h, `for fd in 0 1 2; do test -t $fd && echo $fd; done; stty size; tty; ps -o tty= -p $$; printf 'a\nb\n'; read x < /dev/tty; echo "got $x"`)
		seen := printed(t, h, id, "b\n")
		require.Regexp(t, `^0\n1\n2\n40 120\n/dev/(pts/\d+)\n`, seen)
		require.NotContains(t, seen, "\r")
		typed(t, h, id, "answer\n")
		require.NotContains(t, printed(t, h, id, "got answer\n"), "b\nanswer", "what is typed is not repeated") // SO-26
	})
	t.Run("a question", func(t *testing.T) { // SO-06
		id := backgrounded(t, h, `read -r -p 'Proceed? (y) ' a; echo "got=[$a]"; read -rs -p 'Password: ' b; echo "and=[$b]"`)
		printed(t, h, id, "Proceed? (y) ")
		typed(t, h, id, "y\n")
		printed(t, h, id, "Password: ")
		typed(t, h, id, "secret\n")
		require.NotContains(t, strings.Replace(printed(t, h, id, "and=[secret]\n"), "and=[secret]", "", 1), "secret")
	})
	t.Run("a prompt", func(t *testing.T) {
		id := backgrounded(t, h, `python3 -q -c 'import code; code.interact(banner="ready")'`)
		printed(t, h, id, ">>> ")
		typed(t, h, id, "print(6*7)\n")
		printed(t, h, id, "42")
		typed(t, h, id, "\x04") // Ctrl-D
		require.EqualValues(t, 0, ended(t, h, id)["exit_code"])
	})
	t.Run("an editor", func(t *testing.T) {
		id := backgrounded(t, h, "vim -u NONE -i NONE -n file.txt")
		printed(t, h, id, "file.txt")
		typed(t, h, id, "ihello")
		typed(t, h, id, "\x1b")
		typed(t, h, id, ":wq\r")
		require.EqualValues(t, 0, ended(t, h, id)["exit_code"])
		text, err := os.ReadFile(h.Dir + "/file.txt")
		require.NoError(t, err)
		require.Equal(t, "hello\n", string(text))
	})
	t.Run("Ctrl-C", func(t *testing.T) {
		id := backgrounded(t, h, "trap 'echo interrupted; exit 7' INT; echo up; while :; do sleep 0.05; done")
		printed(t, h, id, "up\n")
		typed(t, h, id, "\x03")
		require.EqualValues(t, 7, ended(t, h, id)["exit_code"])
	})
	t.Run("a cursor query is for whoever types to answer", func(t *testing.T) { // SO-09
		id := backgrounded(t, h, `stty -icanon; printf '\033[6n'; IFS= read -rs -d R p; printf '%q\n' "$p"`)
		printed(t, h, id, "\x1b[6n")
		typed(t, h, id, "\x1b[1;1R")
		printed(t, h, id, `[1;1`)
	})
	t.Run("much", func(t *testing.T) {
		id := backgrounded(t, h, "stty -a | grep -c icanon; sed -n '/^$/q;p' | cksum")
		printed(t, h, id, "1\n")
		line := strings.Repeat("x", 4000) + "\n"
		typed(t, h, id, strings.Repeat(line, 50)+"\n")
		want := run(t, h, `for i in $(seq 50); do head -c 4000 /dev/zero | tr '\0' x; echo; done | cksum`).Stdout
		printed(t, h, id, want)
	})
	t.Run("given text", func(t *testing.T) {
		r := bashCall(t, h, fields{"command": "cat; read x < /dev/tty; echo $x", "background": true, "stdin": "from the file\n"})
		id := r.Result["session_id"].(string)
		printed(t, h, id, "from the file\n")
		typed(t, h, id, "typed\n")
		printed(t, h, id, "typed\n")
	})
}

func TestTypingThatIsRefused(t *testing.T) {
	h := start(t, nil)
	id := backgrounded(t, h, "sleep 1000")
	over := backgrounded(t, h, "true")
	ended(t, h, over)
	r := bashCall(t, h, fields{"command": "cat; sleep 1000", "timeout_ms": 50, "on_timeout": "background"})
	moved := r.Result["session_id"].(string)
	for _, c := range []struct {
		name     string
		id, data string
		category toolv1.ToolErrorCategory
		message  string
	}{
		{"line too long", id, strings.Repeat("x", 5000) + "\n", invalid, "4095"},
		{"nothing", id, "", invalid, "data"},
		{"over", over, "x", failed, "its terminal is closed"},
		{"no terminal", moved, "x", failed, "no terminal"},
		{"unknown", "bg-none", "x", notFound, id},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := h.Call(t.Context(), "process_input", fields{"id": c.id, "data": c.data})
			require.Equal(t, c.category, r.Err.GetCategory(), r.Err.GetMessage())
			require.Contains(t, r.Err.GetMessage(), c.message)
		})
	}
	t.Run("a line in pieces", func(t *testing.T) {
		typed(t, h, id, strings.Repeat("x", 3000))
		r := h.Call(t.Context(), "process_input", fields{"id": id, "data": strings.Repeat("x", 3000)})
		require.Equal(t, invalid, r.Err.GetCategory())
	})
}

//go:build linux && !race

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// footprint looks at a process from time to time.
type footprint struct {
	cmd     *exec.Cmd
	program int // the most that was seen of what is mapped of the program, which the system shares and takes back as it likes
}

// peak is the most memory that the process has had beside its program, in bytes.
func (m *footprint) peak(t *testing.T) int {
	t.Helper()
	m.program = max(m.program, status(t, m.cmd, "RssFile"))
	return status(t, m.cmd, "VmHWM") - m.program
}

func status(t *testing.T, cmd *exec.Cmd, field string) int {
	t.Helper()
	body, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(body)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			require.NoError(t, err)
			return n << 10
		}
	}
	t.Fatal("no " + field)
	return 0
}

// The provider stays below 64 MiB whatever is done with files of every size. How much of that is garbage is up to when it is
// collected: files that are held take 32 MiB together, beyond which there may be half as much, and the runtime has its own.
func TestMemory(t *testing.T) {
	w, cmd := newProcess(t, args{"require_read_before_write": false})
	m := &footprint{cmd: cmd}
	idle := m.peak(t)
	w.put("root/plain", strings.Repeat("thirty-one bytes and a newline\n", editLimit/31))
	w.put("root/crlf", strings.Repeat("a line\r\n", editLimit/8))
	w.put("root/letters", strings.Repeat("a", editLimit))
	w.put("root/lines", strings.Repeat("\n", editLimit))
	w.put("root/words", strings.Repeat("a ", editLimit/2))
	w.put("root/legacy", strings.Repeat("\xe4\x99.", editLimit/3))
	w.put("root/wide", "\xff\xfe"+strings.Repeat("a\x00\n\x00\xac\x20", editLimit/6))
	for i := range 8 {
		w.put(fmt.Sprint("root/many", i), strings.Repeat("thirty-one bytes and a newline\n", editLimit/31))
	}
	w.put("root/large", strings.Repeat("a line of some text\n", (64<<20)/20))
	w.put("root/huge", "first\n")
	require.NoError(t, os.Truncate(w.root+"/huge", 2<<30))
	all := func(path, from, to string) args {
		return args{"path": path, "old_string": from, "new_string": to, "replace_all": true}
	}
	var many []any
	for i := range 8 {
		many = append(many, args{"path": fmt.Sprint("many", i), "edits": []any{args{"old_string": "bytes", "new_string": "BYTES", "replace_all": true}}})
	}
	for i, step := range []struct {
		name, operation string
		args            args
		fails           bool
	}{
		{"a line of a huge file", "read_file", args{"path": "huge", "limit": 1}, false}, // FO-12
		{"all of a large file", "read_file", args{"path": "large", "limit": 10, "offset": 3000000}, false},
		{"an edit everywhere", "edit_file", all("plain", "bytes", "BYTES"), false},
		{"its undo", "undo", args{"path": "plain"}, false},
		{"line ends", "edit_file", all("crlf", "line", "LINE"), false},
		{"every letter", "edit_file", all("letters", "a", "b"), false},
		{"every line", "edit_file", all("lines", "\n\n", "\n"), false},
		{"too much", "edit_file", all("letters", "b", strings.Repeat("b", 1<<20)), true},
		{"a stray encoding", "edit_file", all("legacy", "ä", "ö"), false},
		{"a wide one", "edit_file", all("wide", "a", "b"), false},
		{"a near miss", "edit_file", all("plain", "thirty-two bytes and a newline", "x"), true},
		{"a miss among lines", "edit_file", all("lines", "zzz", "x"), true},
		{"a miss among words", "edit_file", all("words", "b  a", "x"), true},
		{"over a large file", "write_file", args{"path": "large", "content": strings.Repeat("new\n", 700_000)}, false},
		{"its undo", "undo", args{"path": "large"}, false},
		{"several", "apply_edits", args{"files": many}, false},
		{"too large to be edited", "edit_file", all("large", "line", "LINE"), true},
		{"a copy", "copy", args{"source": "large", "destination": "copy"}, false},
		{"many reads", "read_many", args{"paths": []any{"plain", "large", "huge", "many1", "many2"}}, false},
	} {
		got := w.Call(t.Context(), step.operation, step.args)
		require.Equal(t, step.fails, got.Err != nil, "%s: %v", step.name, got.Err)
		t.Logf("%-24s %d MiB", step.name, m.peak(t)>>20)
		if i == 0 {
			require.Less(t, m.peak(t)-idle, 32<<20, "one line takes a few MiB, however large the file")
		}
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			got := w.Call(t.Context(), "edit_file", all(fmt.Sprint("many", i), "a", "e"))
			if got.Err != nil {
				t.Error(got.Err)
			}
		})
	}
	wg.Wait()
	t.Logf("idle %d MiB, at most %d MiB, and %d MiB of the program", idle>>20, m.peak(t)>>20, m.program>>20)
	require.Less(t, m.peak(t), 64<<20)
}

//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tmux is a terminal with a screen, and somebody who presses its keys.
type tmux struct {
	t      *testing.T
	socket string
}

// inTmux runs a command in a project of its own on a screen of some size.
func inTmux(t *testing.T, dir string, columns, rows int, command string) *tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("there is no tmux, whose screen is what is looked at")
	}
	sockets, err := os.MkdirTemp("", "tmux") // t.TempDir can be too long for a socket
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(sockets) })
	m := &tmux{t, filepath.Join(sockets, "s")}
	start := exec.Command("tmux", "-S", m.socket, "-f", os.DevNull, "new-session", "-d", "-s", "t",
		"-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows), "-c", dir, command)
	start.Env = append(os.Environ(), terminalEnv(dir)...)
	out, err := start.CombinedOutput()
	require.NoError(t, err, string(out))
	t.Cleanup(m.close)
	return m
}

// close ends the terminal, and waits for what ran on it: it may still have something to write.
func (m *tmux) close() {
	pids := append(descendants(m.pane()), m.pane())
	_ = exec.Command("tmux", "-S", m.socket, "kill-server").Run()
	for _, pid := range pids {
		for deadline := time.Now().Add(time.Minute); runs(pid); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				require.Fail(m.t, "a process outlived its terminal", "%s", pid)
			}
		}
	}
}

// runs reports whether there is a process, and it has not ended: whoever is to take note of its end may never do that.
func runs(pid string) bool {
	state, _ := exec.Command("ps", "-o", "stat=", "-p", pid).Output() // fails when there is none
	return len(state) > 0 && state[0] != 'Z'
}

// pane is the process that runs on the screen.
func (m *tmux) pane() string {
	m.t.Helper()
	return strings.TrimSpace(m.do("display-message", "-p", "-t", "t", "#{pane_pid}"))
}

// descendants are the processes of a process, and theirs.
func descendants(pid string) []string {
	out, _ := exec.Command("pgrep", "-P", pid).Output() // fails when there are none
	all := strings.Fields(string(out))
	for _, child := range all {
		all = append(all, descendants(child)...)
	}
	return all
}

func terminalEnv(dir string) []string {
	return []string{
		"HOME=" + dir, "XDG_CONFIG_HOME=" + filepath.Join(dir, ".config"), "XDG_CACHE_HOME=" + filepath.Join(dir, ".cache"),
		"XDG_STATE_HOME=" + filepath.Join(dir, ".state"), "LC_ALL=C.UTF-8",
	}
}

func (m *tmux) do(args ...string) string {
	m.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", m.socket}, args...)...).CombinedOutput()
	require.NoError(m.t, err, "tmux %q: %s", args, out)
	return string(out)
}

// keys presses keys by their names in tmux; text types as it is.
func (m *tmux) keys(names ...string) {
	m.t.Helper()
	m.do(append([]string{"send-keys", "-t", "t"}, names...)...)
}
func (m *tmux) text(text string) { m.t.Helper(); m.do("send-keys", "-t", "t", "-l", text) }

// paste pastes as a terminal does that was asked to mark it.
func (m *tmux) paste(text string) {
	m.t.Helper()
	m.do("set-buffer", text)
	m.do("paste-buffer", "-p", "-r", "-t", "t")
}

func (m *tmux) resize(columns, rows int) {
	m.t.Helper()
	m.do("resize-window", "-t", "t", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows))
}

// screen is what can be seen, without the empty rows below it.
func (m *tmux) screen() string {
	m.t.Helper()
	rows := strings.Split(m.do("capture-pane", "-p", "-t", "t"), "\n")
	for i, r := range rows {
		rows[i] = strings.TrimRight(r, " ")
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n") + "\n"
}

// last are the last rows of the screen.
func (m *tmux) last(n int) string {
	m.t.Helper()
	rows := strings.Split(strings.TrimSuffix(m.screen(), "\n"), "\n")
	return strings.Join(rows[max(0, len(rows)-n):], "\n")
}

func (m *tmux) until(what string, fits func(screen string) bool) {
	m.t.Helper()
	for deadline := time.Now().Add(time.Minute); !fits(m.screen()); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			require.Fail(m.t, "not on the screen in time", "%s, but:\n%s", what, m.screen())
		}
	}
}

func (m *tmux) waitFor(text string) {
	m.t.Helper()
	m.until(strconv.Quote(text), func(s string) bool { return strings.Contains(s, text) })
}

// waitForRows waits until the last rows that can be seen are these.
func (m *tmux) waitForRows(rows ...string) {
	m.t.Helper()
	want := strings.Join(rows, "\n")
	m.until(want, func(string) bool { return m.last(len(rows)) == want })
}

// prompt waits for an empty prompt as the last row, and returns it.
func (m *tmux) prompt() string {
	m.t.Helper()
	m.until("a prompt", func(string) bool { last := m.last(1); return strings.HasSuffix(last, ">") && len(last) > 6 })
	return m.last(1)
}

// clear leaves nothing on the screen but a prompt, so that nothing of before is taken for what comes next.
func (m *tmux) clear() {
	m.t.Helper()
	m.keys("C-l")
	m.until("a prompt alone", func(s string) bool { return strings.Count(s, "\n") == 1 && strings.HasSuffix(s, ">\n") })
}

// run types a line and waits until it is done.
func (m *tmux) run(line string) {
	m.t.Helper()
	m.text(line)
	m.until("what was typed", func(s string) bool { return strings.HasSuffix(joined(s), joined(line)) })
	m.keys("Enter")
	m.prompt()
}

// joined is a screen with its rows put together, as a line that was wrapped. Blanks are not kept, since rows end in some.
func joined(screen string) string { return strings.NewReplacer("\n", "", " ", "").Replace(screen) }

func (m *tmux) cursor() string {
	m.t.Helper()
	return strings.TrimSpace(m.do("display-message", "-p", "-t", "t", "#{cursor_x},#{cursor_y}"))
}

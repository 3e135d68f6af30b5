package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestShellApproves(t *testing.T) {
	m, dir, prompt := shellIn(t, 40)
	m.text("filesystem.write_file path=new.txt content='one'")
	m.keys("Enter")
	m.waitFor("\nGo ahead? [y/N]")
	require.Contains(t, m.screen(), "filesystem.write_file · risk moderate\n  │ create new.txt\n")
	require.Contains(t, m.screen(), "\n  │ +one\n")
	m.keys("n", "Enter")
	m.waitFor("\ndenied: ")
	require.Equal(t, prompt, m.prompt())
	require.NoFileExists(t, filepath.Join(dir, "new.txt"))
	m.keys("Up", "Enter")
	m.until("the second question", func(s string) bool { return strings.Count(s, "Go ahead?") == 2 })
	// No word is cut.
	require.Contains(t, m.screen(), "\ns: yes, and in this session also\n   filesystem.write_file path=*\na: yes, and always, by a policy for\n   filesystem.write_file path=*\n")
	m.keys("s", "Enter")
	m.waitFor("created new.txt")
	m.prompt()
	m.clear()
	m.text("filesystem.write_file path=other.txt content=two")
	m.keys("Enter")
	m.waitFor("created other.txt")
	require.NotContains(t, m.screen(), "Go ahead?", "it was approved for the session")
	// The end of the session is the end of what was approved for it.
	m.text("reload")
	m.keys("Enter")
	m.until("another prompt", func(string) bool { last := m.last(1); return strings.HasSuffix(last, ">") && last != prompt })
	m.text("filesystem.write_file path=third.txt content=three")
	m.keys("Enter")
	m.waitFor("Go ahead?")
	m.keys("C-c")
	m.waitFor("cancelled: ")
	m.prompt()
	require.NoFileExists(t, filepath.Join(dir, "third.txt"))
	// The question that was left takes nothing of what is typed next.
	m.run("filesystem.read_file path=README.md")
	require.Contains(t, m.screen(), "\nhello\n")
}

// Ctrl-C belongs to what runs. The shell stays, and so does its session.
func TestShellCancels(t *testing.T) {
	m, dir, prompt := shellIn(t, 60)
	m.text("half a line")
	m.keys("C-c")
	m.waitForRows(prompt+" half a line^C", prompt)
	allow(t, dir)
	m.text("reload")
	m.keys("Enter")
	m.until("another session", func(string) bool { last := m.last(1); return strings.HasSuffix(last, ">") && last != prompt })
	prompt = m.last(1)
	m.text("bash.bash command='echo $$ > pid; echo started; sleep 1000'")
	m.keys("Enter")
	m.waitFor("│ started")
	m.keys("C-c")
	m.waitFor("cancelled: process received SIGTERM")
	require.Equal(t, prompt, m.prompt())
	m.clear()
	m.text("bash.bash command='trap \"\" TERM; echo started; while :; do sleep 1; done'")
	m.keys("Enter")
	m.waitFor("│ started")
	shell := 0
	for _, pid := range descendants(m.pane()) {
		if number, _ := strconv.Atoi(pid); strings.HasPrefix(commandLine(number), "agent shell") {
			shell = number
		}
	}
	require.NotZero(t, shell)
	m.keys("C-c")
	m.waitFor("press Ctrl-C again to kill")
	m.until("killing", func(screen string) bool {
		if strings.Contains(screen, "killing") {
			return true
		}
		// Two at once are one. The key would have the terminal drop what it has not shown yet.
		require.NoError(t, syscall.Kill(shell, syscall.SIGINT))
		return false
	})
	m.waitFor("cancelled: ")
	require.Equal(t, prompt, m.prompt())
	m.clear()
	m.text("bash.bash command='echo and on'")
	m.keys("Enter")
	m.waitFor("│ and on")
	m.prompt()
	m.text("exit")
	m.keys("Enter")
	m.waitFor("exit code 0\nicanon")
}

// A Ctrl-C behind Enter is for the line that was sent, however far it has come: one key is enough, and the next line is
// its own.
func TestShellCancelsWhatWasSent(t *testing.T) {
	dir := shellProject(t)
	allow(t, dir)
	p := startOnTerminal(t, dir, "exec agent shell")
	seen := p.waitBehind(t, 0, "> ")
	for range 5 {
		for _, moment := range []struct {
			name, keys, until string
		}{
			{"in one piece", "\r\x03", ""},
			{"at once", "\r", ""},
			{"as the line ends", "\r", "\n"},
			{"as the call begins", "\r", "starting process"},
			{"in the call", "\r", "started"},
		} {
			p.write(t, "bash.bash command='echo start\"\"ed; sleep 1000'"+moment.keys)
			if !strings.HasSuffix(moment.keys, "\x03") {
				seen = p.waitBehind(t, seen, "1000'")
				seen = p.waitBehind(t, seen, moment.until)
				p.write(t, "\x03")
			}
			seen = p.waitBehind(t, seen, "cancelled: ")
			seen = p.waitBehind(t, seen, "> ")
		}
	}
	require.NotContains(t, p.screen(), "killing")
	p.write(t, "bash.bash command='echo $((40+2)) is the answer'\r")
	seen = p.waitBehind(t, seen, "42 is the answer")
	p.waitBehind(t, seen, "> ")
	p.write(t, "exit\r")
	require.Equal(t, 0, p.exitCode(t), p.screen())
}

// Whenever Ctrl-C comes, between two calls as well, it costs no more than what runs.
func TestShellIsInterruptedAtAnyTime(t *testing.T) {
	dir := shellProject(t)
	allow(t, dir)
	p := startOnTerminal(t, dir, "exec agent shell")
	p.waitFor(t, "> ")
	for range 20 {
		p.write(t, "bash.bash command='echo a call'\r")
		for range 40 {
			require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
			time.Sleep(2 * time.Millisecond) // somewhere in the call, behind it, or before the next
		}
	}
	// What was typed is given up with the line, as long as any is on its way.
	require.Eventually(t, func() bool {
		p.write(t, "\x15bash.bash command='echo $((40+2)) is the answer'\r")
		return strings.Contains(p.screen(), "│ 42 is the answer")
	}, time.Minute, time.Second)
	p.write(t, "\x15exit\r")
	require.Equal(t, 0, p.exitCode(t), p.screen())
}

// A shell that was stopped, in a call or at its prompt, goes on as it was.
func TestShellIsStopped(t *testing.T) {
	dir := shellProject(t)
	allow(t, dir)
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash, which gives a job that goes on the terminal as it had it")
	}
	m := inTmux(t, dir, 80, 30, "PS1='outer$ ' exec bash --norc -i")
	m.waitFor("outer$")
	m.text("sh -c 'echo $$ > pid; exec agent shell'")
	m.keys("Enter")
	m.until("the shell's prompt", func(string) bool { last := m.last(1); return strings.HasSuffix(last, ">") && len(last) > 6 })
	prompt := m.last(1)
	m.text("bash.bash command='echo started; until test -e go; do sleep 0.05; done; echo end'")
	m.keys("Enter")
	m.waitFor("\n│ started")
	m.keys("C-z")
	m.waitForRows("outer$")
	m.text("touch go; fg")
	m.keys("Enter")
	m.waitFor("\n│ end\n")
	m.waitForRows(prompt)
	m.text("help ex")
	m.waitForRows(prompt + " help ex")
	require.NoError(t, exec.Command("kill", "-TSTP", strconv.Itoa(readNumber(t, filepath.Join(dir, "pid")))).Run())
	m.waitForRows("outer$")
	m.text("fg")
	m.keys("Enter")
	m.waitForRows(prompt + " help ex")
	m.text("itX")
	m.keys("BSpace", "Enter")
	m.waitFor("\nexit: leave, as does Ctrl-D\n")
	require.Equal(t, prompt, m.prompt())
	m.keys("C-d")
	m.waitForRows("outer$")
}

// A window that changes while a call runs gets all that comes, and a prompt of its width.
func TestShellResizedInACall(t *testing.T) {
	dir := shellProject(t)
	allow(t, dir)
	m := inTmux(t, dir, 80, 30, "agent shell; exec sleep 1000")
	prompt := m.prompt()
	m.text("bash.bash command='echo started; until test -e go; do sleep 0.05; done; echo the end of a long line of forty columns; echo end'")
	m.keys("Enter")
	m.waitFor("\n│ started")
	m.resize(30, 20)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o644))
	m.waitFor("\n│ end\n")
	require.Contains(t, joined(m.screen()), "│theendofalonglineoffortycolumns")
	require.Equal(t, prompt, m.prompt())
	m.text("help no-such-tool-of-a-long-name")
	m.waitForRows(prompt+" help no-such-tool-of", "-a-long-name")
}

// allow has a project allow every call of bash.
func allow(t *testing.T, dir string) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(dir, "agent.hcl"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString("policy \"bash\" {\n  match  = { provider = \"bash\" }\n  action = \"allow\"\n}\n")
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

// A provider that died is started by the next call; what changed meanwhile is told; what runs in the background runs as
// long as the shell.
func TestShellGoesOn(t *testing.T) {
	dir := shellProject(t)
	allow(t, dir)
	m := inTmux(t, dir, 80, 30, "agent shell; echo exit code $?; exec sleep 1000")
	prompt := m.prompt()
	m.run("bash.bash background=true command='echo $$ > pid; exec sleep 1000'")
	m.until("the process in the background", func(string) bool { _, err := os.Stat(filepath.Join(dir, "pid")); return err == nil })
	background := readNumber(t, filepath.Join(dir, "pid"))
	m.run("bash.process_list")
	require.Contains(t, m.screen(), "running")
	m.run("filesystem.read_file path=README.md")
	require.Contains(t, m.screen(), "\nhello\n")
	kill(t, m, "provider-filesystem")
	m.run("filesystem.read_file path=docs/guide.md")
	if strings.Contains(m.screen(), "process_crashed") { // the call was there before the news of the death
		m.run("filesystem.read_file path=docs/guide.md")
	}
	require.Contains(t, m.screen(), "\nguide\n")
	require.Equal(t, prompt, m.prompt())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "agent.hcl"), []byte("nonsense {}\n"), 0o644))
	m.run("help exit")
	m.waitFor("agent.hcl has changed: 'reload' begins a new session with it")
	m.clear()
	m.run("reload")
	require.Contains(t, m.screen(), "nonsense")
	require.Equal(t, prompt, m.prompt(), "what cannot be read takes the place of nothing")
	require.DirExists(t, fmt.Sprintf("/proc/%d", background))
	m.text("quit")
	m.keys("Enter")
	m.waitFor("exit code 0")
	require.NoDirExists(t, fmt.Sprintf("/proc/%d", background))
}

// kill ends a provider of the shell on a screen, and waits until it is gone, with the keeper that started it: that is
// when the kernel knows.
func kill(t *testing.T, m *tmux, provider string) {
	t.Helper()
	killed := ""
	var keepers []string
	for _, pid := range descendants(m.pane()) {
		command, _ := os.ReadFile("/proc/" + pid + "/cmdline") // of one that has just ended there is none
		name, _, _ := strings.Cut(string(command), "\x00")
		switch {
		case filepath.Base(name) == provider:
			killed = pid
		case strings.Contains(string(command), provider):
			keepers = append(keepers, pid)
		}
	}
	require.NotEmpty(t, killed, "there is no such process")
	require.NoError(t, exec.Command("kill", "-KILL", killed).Run())
	for _, pid := range append(keepers, killed) {
		require.Eventually(t, func() bool { _, err := os.Stat("/proc/" + pid); return err != nil }, time.Minute, 10*time.Millisecond)
	}
}

func readNumber(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	return n
}

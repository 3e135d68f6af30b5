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

// shellIn starts a shell in a new project, on a screen of some columns.
func shellIn(t *testing.T, columns int) (m *tmux, dir, prompt string) {
	t.Helper()
	dir = shellProject(t)
	m = inTmux(t, dir, columns, 30, "agent shell; echo exit code $?; stty -a | tr ' ' '\\n' | grep -x -e '-*icanon;*'; exec sleep 1000")
	return m, dir, m.prompt()
}

// shellProject is a project in a folder whose name does not change from test to test.
func shellProject(t *testing.T) string {
	t.Helper()
	dir := projectDir(t)
	for name, text := range map[string]string{
		"README.md": "hello\n", "docs/guide.md": "guide\n", "my files/one two.txt": "spaced\n", "日本語.txt": "wide\n", ".hidden": "x",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

func TestShellCompletes(t *testing.T) {
	for _, columns := range []int{80, 40} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			m, _, prompt := shellIn(t, columns)
			m.keys("Tab")
			m.waitFor("filesystem.  ")
			m.waitFor("14 tools")
			m.waitFor("in all")
			m.text("files")
			m.keys("Tab")
			m.text("read_")
			m.keys("Tab")
			m.waitFor("\n  filesystem.read_file")
			require.NotContains(t, m.screen(), "write_file")
			m.keys("Tab")
			m.waitFor("› filesystem.read_file")
			m.keys("Enter") // takes what is chosen
			m.text("pa")
			m.keys("Tab")
			m.text("my")
			m.keys("Tab")
			// The rest needs quotes, and a folder is not the end of it.
			m.until("the folder", func(s string) bool { return strings.Contains(joined(s), "path='myfiles/") })
			m.keys("Tab", "Enter")
			m.waitFor("\nspaced\n")
			m.text("filesystem.read_file limit=1 path=")
			m.keys("Tab")
			m.waitFor("  日本語.txt")
			m.waitFor("  docs/")
			require.NotContains(t, m.screen(), ".hidden")
			m.text("日")
			m.keys("Tab", "Enter")
			m.waitFor("\nwide\n")
			m.prompt()
			m.text("/changelog form")
			m.keys("Tab", "Tab")
			m.waitFor("  markdown\n")
			m.text("j")
			m.keys("Tab")
			m.until("the value", func(s string) bool { return strings.Contains(joined(s), "format=json") })
			m.keys("C-c")
			require.Equal(t, prompt, m.prompt())
			m.keys("C-d")
			m.waitFor("exit code 0\nicanon")
		})
	}
}

func TestShellEdits(t *testing.T) {
	m, _, prompt := shellIn(t, 40)
	m.text("日本e\u0301")
	m.waitForRows(prompt + " 日本e\u0301")
	column := func(n int) string { return strconv.Itoa(len(prompt) + 1 + n) }
	x := func() string { c, _, _ := strings.Cut(m.cursor(), ","); return c }
	m.until("the cursor behind three characters in five columns", func(string) bool { return x() == column(5) })
	m.keys("Left", "Left")
	m.until("the cursor before the second", func(string) bool { return x() == column(2) })
	m.keys("C-k")
	m.text("123456789012345678901234567890")
	m.until("two rows", func(s string) bool { return strings.Contains(joined(s), "日123456789012345678901234567890") })
	require.Equal(t, 2, strings.Count(m.last(2), "\n")+1)
	m.keys("C-a")
	m.text("X")
	m.until("the first column changed", func(s string) bool { return strings.Contains(joined(s), "X日1234567890") })
	m.keys("C-u", "C-e", "C-w")
	m.until("nothing left", func(string) bool { return m.last(1) == prompt })

	// What the window does while one types changes nothing but where the rows end.
	line := "filesystem.read_file path=README.md limit=1"
	m.text(line)
	for _, columns := range []int{25, 80, 33} {
		m.resize(columns, 30)
		m.until("the line in another width", func(s string) bool { return strings.Contains(joined(s), joined(line)) })
	}
	m.text("0")
	m.until("one line, once", func(s string) bool {
		return strings.Count(joined(s), joined(line)+"0") == 1 && strings.Count(joined(s), "filesystem") == 1
	})
	m.keys("Enter")
	m.waitFor("\nhello\n")
}

func TestShellPastes(t *testing.T) {
	m, _, prompt := shellIn(t, 80)
	m.paste("filesystem.read_file path=README.md\r\nfilesystem.read_file path=docs/guide.md\nfilesystem.read_file path=nothing.md\nhelp\n")
	m.waitForRows(prompt+" filesystem.read_file path=README.md", "> filesystem.read_file path=docs/guide.md", "> filesystem.read_file path=nothing.md", "> help")
	require.NotContains(t, m.screen(), "hello", "nothing runs before Enter")
	m.keys("Enter")
	m.waitFor("not_found")
	m.waitFor("\nhello\n")
	m.waitFor("\nguide\n")
	m.waitForRows("not run: 1 line behind it", prompt)
	require.NotContains(t, m.screen(), "Values are quoted", "what is behind a failure is not run")
}

// What is typed while a call runs is in nobody's way: it stands behind the next prompt, once.
func TestShellTypedAhead(t *testing.T) {
	dir := shellProject(t)
	allow(t, dir)
	m := inTmux(t, dir, 80, 30, "agent shell; echo exit code $?; stty -a | tr ' ' '\\n' | grep -x -e '-*echo;*'; exec sleep 1000")
	prompt := m.prompt()
	m.text("bash.bash command='echo started; until test -e go; do sleep 0.05; done; echo end'")
	m.keys("Enter")
	m.waitFor("\n│ started")
	m.text("help no-such")
	m.keys("BSpace")
	m.text("h-thing")
	m.keys(`C-\`) // the end of nothing
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o644))
	m.waitForRows(prompt + " help no-such-thing")
	require.Contains(t, m.screen(), "\n│ started\n│ end\n")
	require.Equal(t, 1, strings.Count(m.screen(), "help no-suc"))
	// A question shows its answer, and takes none that was typed before it.
	m.keys("C-u")
	m.text("bash.bash command='rm go; echo started; until test -e go; do sleep 0.05; done'")
	m.keys("Enter")
	m.until("the second call", func(s string) bool { return strings.Count(s, "\n│ started") == 2 })
	m.text("filesystem.write_file path=new.txt content=one")
	m.keys("Enter")
	m.text("y")
	m.keys("Enter")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o644))
	m.waitForRows("Go ahead? [y/N]")
	m.text("no")
	m.waitForRows("Go ahead? [y/N] no")
	m.keys("Enter")
	m.waitFor("\ndenied: ")
	require.NoFileExists(t, filepath.Join(dir, "new.txt"))
	m.waitForRows(prompt)
	m.keys("C-d")
	m.waitFor("exit code 0\necho")
}

func TestShellHistory(t *testing.T) {
	m, dir, _ := shellIn(t, 60)
	for _, line := range []string{"filesystem.read_file path=README.md", "help token=hunter2", " help blank", "help help"} {
		m.run(line)
		m.clear()
	}
	m.keys("C-d")
	m.waitFor("exit code 0")
	file := filepath.Join(dir, ".state", "agent", "history")
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "\"filesystem.read_file path=README.md\"\n\"help help\"\n", string(kept))

	m = inTmux(t, dir, 60, 30, "agent shell; exec sleep 1000")
	prompt := m.prompt()
	m.keys("Up")
	m.waitForRows(prompt + " help help")
	m.keys("Up")
	m.waitForRows(prompt + " filesystem.read_file path=README.md")
	m.keys("Down", "Down", "C-r")
	m.text("READ")
	m.waitForRows("search: READ › filesystem.read_file path=README.md")
	m.keys("Enter")
	m.waitFor("\nhello\n")
	require.Equal(t, prompt, m.prompt())
}

// Whatever ends the shell, the terminal is as it was.
func TestShellLeavesTheTerminal(t *testing.T) {
	for _, signal := range []string{"TERM", "HUP", "INT"} {
		t.Run(signal, func(t *testing.T) {
			dir := shellProject(t)
			m := inTmux(t, dir, 60, 30, "sh -c 'echo $$ > pid; exec agent shell'; echo exit code $?; stty -a | tr ' ' '\\n' | grep -x -e '-*icanon;*'; exec sleep 1000")
			prompt := m.prompt()
			m.text("something")
			m.waitForRows(prompt + " something")
			require.NoError(t, exec.Command("kill", "-"+signal, strconv.Itoa(readNumber(t, filepath.Join(dir, "pid")))).Run())
			if signal == "INT" { // as Ctrl-C at a prompt: the line is given up
				require.Equal(t, prompt, m.prompt())
				m.keys("C-d")
				m.waitFor("exit code 0\nicanon")
				return
			}
			m.waitFor("exit code 130\nicanon")
		})
	}
}

// A terminal that can do nothing gets nothing but text, and has a shell all the same.
func TestShellOnADumbTerminal(t *testing.T) {
	p := startOnTerminal(t, shellProject(t), "stty -echo; TERM=dumb NO_COLOR= exec agent shell")
	p.waitFor(t, "> ")
	p.write(t, "filesystem.read_file path=README.md\n")
	p.waitFor(t, "be03\n001 ") // the prompt: Ctrl-C drops what is not shown yet
	p.write(t, "half a line\x03")
	p.waitFor(t, "> \n")
	p.write(t, "filesystem.write_file path=new.txt \\\n")
	p.waitFor(t, "> > ")
	p.write(t, "  content='a\nb'\n")
	p.waitFor(t, "Go ahead? [y/N] ")
	p.write(t, "y\n")
	p.waitFor(t, "created new.txt")
	p.write(t, "\x04")
	require.Equal(t, 0, p.exitCode(t), p.screen())
	require.NotContains(t, p.screen(), "\x1b")
	require.NotContains(t, p.screen(), "\r")
}

// NO_COLOR means no colours, not no cursor.
func TestShellWithoutColour(t *testing.T) {
	p := startOnTerminal(t, shellProject(t), "exec agent shell")
	p.waitFor(t, "> ")
	p.write(t, "filesystem.re\t\t")
	p.waitFor(t, "› filesystem.read_file")
	p.write(t, "\x03\x04")
	require.Equal(t, 0, p.exitCode(t), p.screen())
	require.NotRegexp(t, `\x1b\[[0-9;]*m`, p.screen())
}

// Ctrl-C ends a script, and what it runs.
func TestShellScriptInterrupted(t *testing.T) {
	cmd := agentIn(t, "", "shell", "--yes", "--json")
	started := filepath.Join(cmd.Dir, "started")
	cmd.Stdin = strings.NewReader("bash.bash command='touch started; sleep 1000'\nbash.bash command='touch never'\n")
	var stdout strings.Builder
	cmd.Stdout = &stdout
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	require.Eventually(t, func() bool { _, err := os.Stat(started); return err == nil }, time.Minute, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait()
	require.Equal(t, 130, cmd.ProcessState.ExitCode())
	require.Equal(t, 1, strings.Count(stdout.String(), `{"outcome":{"status":"cancelled"`), stdout.String())
	require.Equal(t, 1, strings.Count(stdout.String(), `{"outcome":`), stdout.String())
	require.NoFileExists(t, filepath.Join(cmd.Dir, "never"))
}

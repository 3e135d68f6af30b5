package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/session"
	"github.com/agentco/agent/kernel/internal/session/history"
)

// long is set for the tests that can be run for longer: see make test-long.
var long = os.Getenv("AGENT_LONG") != ""

// belongings finds what a kernel has started for its providers: keepers first, and then all that is below them.
func belongings(kernel int) (found []int) {
	found = childrenOf(kernel)
	for i := 0; i < len(found); i++ {
		found = append(found, childrenOf(found[i])...)
	}
	return found
}

func childrenOf(pid int) (found []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, field := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(field)
			found = append(found, child)
		}
	}
	return found
}

// worked is a shell that makes calls until it is killed. Its commands leave children behind that try to get away.
type worked struct {
	cmd    *exec.Cmd
	said   chan reported // closed at the end
	folder string        // of its sessions
}

func work(t *testing.T, mark string) *worked {
	t.Helper()
	cmd := agentIn(t, mark, "shell", "--yes", "--json")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	go func() {
		for i := 0; ; i++ { // until the pipe breaks
			if _, err := fmt.Fprintf(in, "filesystem.write_file path=f%d content=%d\n"+
				"bash.bash command='(setsid sleep 1000 &); nohup sleep 1000 & echo %d'\nfilesystem.list_directory path=.\n", i%10, i, i); err != nil {
				return
			}
		}
	}()
	w := &worked{cmd: cmd, said: make(chan reported, 10000), folder: filepath.Join(filepath.Dir(cmd.Dir), "state", "agent", "sessions")}
	go w.read(out)
	return w
}

func (w *worked) read(out io.Reader) {
	defer close(w.said)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct{ Outcome *reported }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Outcome != nil && line.Outcome.ID != "" {
			w.said <- *line.Outcome // one without an id never came to be: its provider was killed before it had said what it has
		}
	}
}

// requireRecorded holds the logs to what the kernel has said.
func requireRecorded(t *testing.T, w *worked, said []reported) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(w.folder, "*.sqlite"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	verdict, err := session.Verify(t.Context(), files[0])
	require.NoError(t, err)
	require.Empty(t, verdict.Problems)
	f, err := session.Open(t.Context(), files[0])
	require.NoError(t, err)
	defer f.Close()
	require.Nil(t, f.Salvage)
	calls, err := history.Calls(t.Context(), f)
	require.NoError(t, err)
	kept := map[string]string{}
	for _, c := range calls {
		kept[c.ID] = c.Status
	}
	for _, s := range said {
		require.Equal(t, s.Status, kept[s.ID], "call %s", s.ID)
	}
}

// Whatever is killed under load, and whenever: what was said is recorded, the next call starts what it needs, and in the end
// there is no process left. Of each kernel some providers, keepers and their children are killed, one after another, and
// then the kernel itself. Never more than one kernel runs.
func TestKilledAtRandom(t *testing.T) {
	kernels, victims := 3, 3
	if long {
		kernels = 40 // 200 in all
		victims = 4
	}
	for round := range kernels {
		mark := fmt.Sprintf("TestKilledAtRandom-%d", round)
		w := work(t, mark)
		var said []reported
		hear := func(n int) {
			for range n {
				if s, ok := <-w.said; ok {
					said = append(said, s)
				}
			}
		}
		hear(1)
		var hit keepersHit
		for range victims {
			if all := belongings(w.cmd.Process.Pid); len(all) > 0 {
				require.Less(t, len(all), 30)
				victim := all[rand.IntN(len(all))]
				hit.note(victim)
				_ = syscall.Kill(victim, syscall.SIGKILL)
			}
			hear(rand.IntN(6))
		}
		hit.settle(t, mark)
		require.NoError(t, w.cmd.Process.Kill())
		for s := range w.said {
			said = append(said, s)
		}
		_ = w.cmd.Wait()
		requireNothingLeft(t, mark)
		requireRecorded(t, w, said)
	}
}

// keepersHit are the keepers that were killed, of providers and of commands, and what there was below them. While one lives of
// a kernel, its keeper and the keeper of a command, it ends what the others leave. When all three are killed at one moment
// nobody does, and what had fled of that command lives on: no process can do anything about that.
type keepersHit struct {
	ofProviders, ofCommands bool
	below                   []int
}

// note is told of a process before it is killed.
func (k *keepersHit) note(victim int) {
	name := commandLine(victim)
	k.ofProviders = k.ofProviders || strings.HasPrefix(name, kernelsKeeper)
	k.ofCommands = k.ofCommands || strings.HasPrefix(name, commandsKeeper)
	k.below = append(k.below, belongings(victim)...)
}

// settle gives the kernel the time to end what keepers of both kinds have left, when there are some.
func (k *keepersHit) settle(t *testing.T, mark string) {
	t.Helper()
	if !k.ofProviders || !k.ofCommands {
		return
	}
	require.Eventually(t, func() bool {
		return !slices.ContainsFunc(k.below, func(pid int) bool { return marked(pid, mark) })
	}, time.Minute, time.Millisecond)
}

// K21: of those that end each other's orphans, any two may be killed at one moment.
func TestKilledTogether(t *testing.T) {
	const kernel, keeper, provider, command = "the kernel", "the keeper of a provider", "the provider", "the keeper of a command"
	for _, pair := range [][2]string{{kernel, keeper}, {kernel, provider}, {kernel, command}, {keeper, provider}, {keeper, command}, {provider, command}} {
		t.Run(pair[0]+" and "+pair[1], func(t *testing.T) {
			mark := strings.ReplaceAll(t.Name(), " ", "-")
			cmd := agentIn(t, mark, "invoke", "bash.bash", "--yes",
				"command=(setsid sleep 1000 &); nohup sleep 1000 & (setsid sh -c 'sleep 1000 & exit' &); echo up; wait")
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			_, err = bufio.NewReader(out).ReadString('\n')
			require.NoError(t, err)
			named := map[string]int{kernel: cmd.Process.Pid}
			for _, pid := range belongings(cmd.Process.Pid) {
				switch line := commandLine(pid); {
				case strings.HasPrefix(line, kernelsKeeper+" "+binaries+"/provider-bash"):
					named[keeper], named[provider] = pid, childrenOf(pid)[0]
				case strings.HasPrefix(line, commandsKeeper) && len(childrenOf(pid)) > 0: // another may wait for work
					named[command] = pid
				}
			}
			require.Len(t, named, 4)
			rand.Shuffle(2, func(i, j int) { pair[i], pair[j] = pair[j], pair[i] })
			for _, name := range pair {
				_ = syscall.Kill(named[name], syscall.SIGKILL)
			}
			_ = cmd.Wait()
			requireNothingLeft(t, mark)
		})
	}
}

// K21: the kernel is killed while its second provider has not shaken hands yet.
func TestKilledDuringAStart(t *testing.T) {
	mark := t.Name()
	cmd := agentIn(t, mark, "validate")
	home := filepath.Dir(cmd.Dir)
	slow, started := filepath.Join(home, "slow"), filepath.Join(home, "started")
	require.NoError(t, os.WriteFile(slow, fmt.Appendf(nil, `#!/bin/sh
export AGENT_TEST_MARK=%s
trap '' TERM
setsid sleep 1000 &
until pgrep -f %s/provider-bash >/dev/null; do sleep 0.01; done
touch %s
while :; do sleep 1; done
`, mark, binaries, started), 0o755))
	overrides := fmt.Sprintf("dev_overrides {\n  filesystem = %q\n  bash = %q\n release-tools = %q\n}\n", slow,
		filepath.Join(binaries, "provider-bash"), filepath.Join(binaries, "provider-release-tools"))
	require.NoError(t, os.WriteFile(filepath.Join(home, "config/agent/config.hcl"), []byte(overrides), 0o644))
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	require.Eventually(t, func() bool { _, err := os.Stat(started); return err == nil }, time.Minute, 10*time.Millisecond)
	require.NotEmpty(t, left(mark))
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	requireNothingLeft(t, mark)
}

// K21: the terminal is closed, as when a connection breaks: in a call, at a question, and when nothing is being done.
func TestTerminalCloses(t *testing.T) {
	for name, c := range map[string]struct{ command, shows string }{
		"in a call":     {"invoke bash.bash --yes command='(setsid sleep 1000 &); echo up; sleep 1000'", "│ up"},
		"at a question": {"invoke bash.bash command='sleep 1000'", "Go ahead?"},
		"in the shell":  {"shell", "agent"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := projectDir(t)
			p := startOnTerminal(t, dir, "exec agent "+c.command)
			p.waitFor(t, c.shows)
			require.NoError(t, p.master.Close())
			_ = p.cmd.Wait()
			requireNothingLeft(t, "")
		})
	}
}

// K21: a provider that knows nothing of kernels does not outlive one either, nor does what it has started.
func TestForeignProviderDoesNotSurvive(t *testing.T) {
	w := agentIn(t, "", "invoke", "bash.spawn", "--json")
	home := filepath.Dir(w.Dir)
	self, err := os.Executable()
	require.NoError(t, err)
	foreign := filepath.Join(home, "foreign")
	mark := t.Name()
	require.NoError(t, os.WriteFile(foreign, fmt.Appendf(nil, "#!/bin/sh\nexport AGENT_TEST_MARK=%s HOSTTEST_MODE=good\nsetsid sleep 1000 &\nexec %s\n", mark, self), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(home, "config/agent/config.hcl"), fmt.Appendf(nil, "dev_overrides {\n  bash = %q\n}\n", foreign), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "agent.hcl"), []byte("required_providers {\n  bash = { source = \"github.com/o/r\" }\n}\n"), 0o644))
	w.Args[2] = "bash.block"
	out, err := w.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, w.Start())
	t.Cleanup(func() { _ = w.Process.Kill() })
	_, err = bufio.NewReader(out).ReadString('\n') // "blocking"
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(left(mark)) >= 2 }, time.Minute, 10*time.Millisecond, "the provider, and what it started")
	require.NoError(t, w.Process.Kill())
	_ = w.Wait()
	requireNothingLeft(t, mark)
}

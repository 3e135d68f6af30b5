package keeper

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

const (
	// kernelVariable makes the test binary a kernel that can be killed. Its value is what the provider is.
	kernelVariable = "KEEPER_TEST_KERNEL"
	// markVariable is in the environment of everything that a test starts.
	markVariable = "KEEPER_TEST_MARK"

	patience = 30 * time.Second
)

func TestMain(m *testing.M) {
	if os.Geteuid() == 0 && os.Getuid() != 0 {
		rooted()
	}
	if script := os.Getenv(kernelVariable); script != "" {
		kernel(script)
	}
	goleak.VerifyTestMain(m)
}

// rooted is what sudo starts: nobody but root can kill it.
func rooted() {
	fmt.Println(os.Getpid(), syscall.Setuid(0))
	time.Sleep(time.Hour)
}

// kernel starts a provider and waits to be killed.
func kernel(script string) {
	p, err := Start(specOf(script, os.Getenv(markVariable), os.Stdout))
	if err == nil {
		p.Exited()
		p.Wait()
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func specOf(script, mark string, out *os.File) Spec {
	return Spec{
		Path: "/bin/sh", Args: []string{"sh", "-c", script}, Dir: "/", Stdout: out, Stderr: out,
		Env: []string{"PATH=" + os.Getenv("PATH"), markVariable + "=" + mark},
	}
}

// start runs script and returns what it writes.
func start(t *testing.T, script string) (*Process, *bufio.Reader, <-chan Status) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	p, err := Start(specOf(script, t.Name(), w))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	ended := make(chan Status, 1)
	go func() {
		status := p.Exited()
		p.Wait()
		ended <- status
	}()
	t.Cleanup(p.Kill)
	require.NoError(t, r.SetReadDeadline(time.Now().Add(patience)))
	return p, bufio.NewReader(r), ended
}

func wait(t *testing.T, ended <-chan Status) Status {
	t.Helper()
	select {
	case s := <-ended:
		return s
	case <-time.After(patience):
		t.Fatal("it did not end")
		return Status{}
	}
}

func readLine(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	line, err := r.ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

// marked returns the living processes that carry mark.
func marked(mark string) (found []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environ, _ := os.ReadFile(file)
		if bytes.Contains(environ, []byte(markVariable+"="+mark+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			found = append(found, pid)
		}
	}
	return found
}

func requireNoneLeft(t *testing.T, mark string) {
	t.Helper()
	require.Eventually(t, func() bool { return len(marked(mark)) == 0 }, patience, 5*time.Millisecond)
}

// runaways are the ways out of a process group that were seen in the wild. Each prints "up" when it runs.
var runaways = []struct{ name, script string }{
	{"plain", `(echo up; exec sleep 1000) &`},
	{"nohup", `nohup sh -c 'echo up; exec sleep 1000' &`},
	{"setsid", `setsid sh -c 'echo up; exec sleep 1000' &`},
	{"double fork", `(setsid sh -c '(echo up; exec sleep 1000) & exit' &);`},
	{"ignores TERM", `sh -c 'trap "" TERM; echo up; while :; do sleep 1000; done' &`},
	{"ignores TERM in a session of its own", `setsid sh -c 'trap "" TERM HUP INT; echo up; while :; do sleep 1000; done' &`},
	{"stopped", `sh -c 'echo up; kill -STOP $$; sleep 1000' &`},
	{"without environment", `setsid env -i sh -c 'echo up; exec sleep 1000' &`},
}

func TestStatus(t *testing.T) {
	for _, c := range []struct {
		name, script, want string
		killed             bool
	}{
		{"success", "exit 0", "exit status 0", false},
		{"failure", "exit 3", "exit status 3", false},
		{"terminated", "kill -TERM $$", "signal: terminated", false},
		{"killed", "kill -KILL $$", "signal: killed", true},
		{"a child was killed", "sh -c 'kill -KILL $$'; exit $?", "exit status 137", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, ended := start(t, c.script)
			status := wait(t, ended)
			require.Equal(t, c.want, status.String())
			require.Equal(t, c.killed, status.Killed())
		})
	}
}

// Nobody waits for ever for what cannot be killed. Its keeper goes on, and ends with it.
func TestWhatCannotBeKilled(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make a program that has its rights")
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755)) // so that the user gets there
	require.NoError(t, os.Chmod(dir, 0o777))
	binary, said := filepath.Join(dir, "rooted"), filepath.Join(dir, "said")
	require.NoError(t, exec.Command("cp", "/proc/"+strconv.Itoa(os.Getpid())+"/exe", binary).Run())
	require.NoError(t, os.Chmod(binary, 0o755|os.ModeSetuid))
	user := exec.Command("/proc/self/exe")
	user.Env = append(os.Environ(), markVariable+"="+t.Name(), kernelVariable+"="+binary+" >"+said+" 2>&1 & until test -s "+said+"; do sleep 0.01; done")
	user.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	require.Error(t, user.Run(), "it ends with 1")
	text, err := os.ReadFile(said)
	require.NoError(t, err)
	pid, _, _ := strings.Cut(string(text), " ")
	left, err := strconv.Atoi(pid)
	require.NoError(t, err)
	require.Contains(t, marked(t.Name()), left)
	require.NoError(t, syscall.Kill(left, syscall.SIGKILL))
	requireNoneLeft(t, t.Name())
}

func TestStartRefused(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"no binary":       func(s *Spec) { s.Path = "/nonexistent/provider" },
		"no folder":       func(s *Spec) { s.Dir = "/nonexistent" },
		"no interpreter":  func(s *Spec) { s.Path = filepath.Join(t.TempDir(), "x"); writeScript(t, s.Path, "#!/nonexistent\n") },
		"not a program":   func(s *Spec) { s.Path = filepath.Join(t.TempDir(), "x"); writeScript(t, s.Path, "hello") },
		"not permitted":   func(s *Spec) { s.Path = "/etc/passwd" },
		"too many words":  func(s *Spec) { s.Args = append(s.Args, strings.Repeat("x", 8<<20)) },
		"a NUL in a word": func(s *Spec) { s.Args = append(s.Args, "a\x00b") },
	} {
		t.Run(name, func(t *testing.T) {
			s := specOf("exit 0", t.Name(), os.Stderr)
			change(&s)
			_, err := Start(s)
			require.Error(t, err)
			var errno syscall.Errno
			require.ErrorAs(t, err, &errno)
			require.Empty(t, marked(t.Name()))
		})
	}
}

func writeScript(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
}

func TestProviderGetsWhatItWasGivenAndNothingElse(t *testing.T) {
	signal.Ignore(syscall.SIGUSR2) // no shell can undo that
	defer signal.Reset(syscall.SIGUSR2)
	_, out, ended := start(t, `pwd; env | grep -v -e '^_=' -e '^PWD=' -e '^SHLVL=' -e '^OLDPWD=' | sort; ls /proc/self/fd; readlink /proc/self/fd/0
grep -e SigBlk -e SigIgn /proc/self/status
ps -o pid=,pgid=,sid=,ppid= -p $$; echo $$; (exec </dev/tty) 2>/dev/null || echo no terminal`)
	text, err := io.ReadAll(out)
	require.NoError(t, err)
	require.Equal(t, "exit status 0", wait(t, ended).String())
	lines := strings.Split(string(text), "\n")
	require.Equal(t, "/", lines[0])
	require.Equal(t, []string{markVariable + "=" + t.Name(), "PATH=" + os.Getenv("PATH")}, lines[1:3])
	require.Equal(t, []string{"0", "1", "2", "3", "/dev/null"}, lines[3:8], "ls itself holds 3, the directory that it lists")
	require.Equal(t, "SigBlk:\t0000000000000000", lines[8])
	var ignored uint64
	_, err = fmt.Sscanf(lines[9], "SigIgn:\t%x", &ignored)
	require.NoError(t, err)
	// 32 and 33 are the C library's own: its posix_spawn, make's for one, hands them on as ignored.
	require.Zero(t, ignored&^(1<<31|1<<32), lines[9])
	ids := strings.Fields(lines[10])
	require.Equal(t, lines[11], ids[0])
	require.Equal(t, ids[0], ids[1], "it leads a group")
	require.Equal(t, ids[3], ids[2], "in the session of its keeper")
	require.Equal(t, "no terminal", lines[12])
}

func TestOutputEndsWithTheProvidersHold(t *testing.T) {
	p, out, _ := start(t, "exec >&- 2>&-; exec sleep 1000")
	_, err := out.ReadByte()
	require.ErrorIs(t, err, io.EOF, "the keeper does not hold it")
	p.Kill()
}

func TestKillLeavesNothing(t *testing.T) {
	for _, c := range runaways {
		t.Run(c.name, func(t *testing.T) {
			p, out, ended := start(t, c.script+" wait; sleep 1000")
			require.Equal(t, "up", readLine(t, out))
			p.Kill()
			require.True(t, wait(t, ended).Killed())
			require.Empty(t, marked(t.Name()))
			p.Kill() // too late to hit anybody
		})
	}
}

func TestTheEndOfTheProviderLeavesNothing(t *testing.T) {
	for _, c := range runaways {
		t.Run(c.name, func(t *testing.T) {
			_, out, ended := start(t, c.script+" read x < "+fifo(t)+"; exit 7")
			require.Equal(t, "up", readLine(t, out))
			openFifo(t)
			require.Equal(t, "exit status 7", wait(t, ended).String())
			require.Empty(t, marked(t.Name()))
		})
	}
}

// fifo is a named pipe that openFifo lets a reader go on from.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(os.TempDir(), "keeper-"+strconv.Itoa(os.Getpid())+"-"+strings.NewReplacer("/", "-", " ", "-").Replace(t.Name()))
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	t.Cleanup(func() { _ = os.Remove(path) })
	return path
}

func openFifo(t *testing.T) {
	t.Helper()
	path := filepath.Join(os.TempDir(), "keeper-"+strconv.Itoa(os.Getpid())+"-"+strings.NewReplacer("/", "-", " ", "-").Replace(t.Name()))
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	require.NoError(t, w.Close())
}

func startKernel(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), kernelVariable+"="+script, markVariable+"="+t.Name())
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "up\n", line)
	return cmd
}

// K21
func TestNothingSurvivesTheKernel(t *testing.T) {
	for _, c := range runaways {
		t.Run(c.name, func(t *testing.T) {
			cmd := startKernel(t, c.script+" sleep 1000")
			killed := time.Now()
			require.NoError(t, cmd.Process.Kill())
			requireNoneLeft(t, t.Name())
			t.Logf("nothing was left after %v", time.Since(killed))
		})
	}
}

// A provider that cares has its time when the kernel dies, and no more.
func TestProviderIsToldOfTheEndOfTheKernel(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "tidy")
	cmd := startKernel(t, `trap 'echo tidied >`+mark+`; exit' TERM; echo up; while :; do sleep 0.01; done`)
	require.NoError(t, cmd.Process.Kill())
	requireNoneLeft(t, t.Name())
	require.FileExists(t, mark)

	cmd = startKernel(t, `trap '' TERM; echo up; while :; do sleep 0.01; done`)
	killed := time.Now()
	require.NoError(t, cmd.Process.Kill())
	requireNoneLeft(t, t.Name())
	require.GreaterOrEqual(t, time.Since(killed), 4*time.Second)
}

func TestNothingSurvivesTheKeeper(t *testing.T) {
	for _, c := range runaways {
		t.Run(c.name, func(t *testing.T) {
			p, out, ended := start(t, c.script+" sleep 1000")
			require.Equal(t, "up", readLine(t, out))
			_, bystander, survives := start(t, "setsid sh -c 'echo up; exec sleep 1000' & read x < "+fifo(t)+"; exit 5")
			require.Equal(t, "up", readLine(t, bystander))
			require.NoError(t, p.keeper.Process.Kill())
			require.Equal(t, "its keeper was killed", wait(t, ended).String())
			require.Len(t, marked(t.Name()), 3, "the other keeper, its provider, and what that has started")
			openFifo(t)
			require.Equal(t, "exit status 5", wait(t, survives).String())
			require.Empty(t, marked(t.Name()))
		})
	}
}

// What the kernel starts for itself is nobody's orphan.
func TestTheKernelsOwnChildrenAreLeftAlone(t *testing.T) {
	own := exec.Command("sleep", "1000")
	require.NoError(t, own.Start())
	p, _, ended := start(t, "sleep 1000")
	require.NoError(t, p.keeper.Process.Kill())
	wait(t, ended)
	require.NoError(t, own.Process.Signal(syscall.Signal(0)))
	require.NoError(t, own.Process.Kill())
	require.EqualError(t, own.Wait(), "signal: killed")
}

// Whoever asks a keeper to end does not get at its provider that way.
func TestKeeperEndures(t *testing.T) {
	p, out, ended := start(t, "echo up; read x < "+fifo(t)+"; exit 6")
	require.Equal(t, "up", readLine(t, out))
	require.Eventually(t, func() bool {
		status, err := os.ReadFile("/proc/" + strconv.Itoa(p.keeper.Process.Pid) + "/status")
		require.NoError(t, err)
		return bytes.Contains(status, []byte("Name:\tprovider-keeper\n"))
	}, patience, time.Millisecond)
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		require.NoError(t, p.keeper.Process.Signal(s))
	}
	require.NoError(t, p.keeper.Process.Signal(syscall.SIGSTOP))
	require.NoError(t, p.keeper.Process.Signal(syscall.SIGCONT))
	openFifo(t)
	require.Equal(t, "exit status 6", wait(t, ended).String())
}

func TestStoppedKeeperKills(t *testing.T) {
	p, out, ended := start(t, "setsid sleep 1000 & echo up; sleep 1000")
	require.Equal(t, "up", readLine(t, out))
	require.NoError(t, p.keeper.Process.Signal(syscall.SIGSTOP))
	p.Kill()
	require.True(t, wait(t, ended).Killed())
	require.Empty(t, marked(t.Name()))
}

func TestStoppedKeeperLearnsOfTheEndOfTheKernel(t *testing.T) {
	cmd := startKernel(t, "setsid sleep 1000 & sleep 0.1; kill -STOP $PPID; echo up; sleep 1000")
	require.NoError(t, cmd.Process.Kill())
	requireNoneLeft(t, t.Name())
}

func TestKillOutrunsForks(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		// Each has one child and exits, fifty times in all.
		{"in one group", `next() { [ $1 -gt 50 ] || (next $(($1 + 1)) &) ; sleep 0.01; } ; echo up; next 0`},
		{"each in a session of its own", `echo up; export again='[ $n -gt 50 ] && exit; n=$((n + 1)); setsid sh -c "$again" & exit'; export n=0; sh -c "$again"; sleep 1000`},
		{"a crowd", `echo up; for i in $(seq 20); do sleep 1000 & done; wait`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, out, ended := start(t, c.script)
			require.Equal(t, "up", readLine(t, out))
			p.Kill()
			wait(t, ended)
			require.Empty(t, marked(t.Name()))
		})
	}
}

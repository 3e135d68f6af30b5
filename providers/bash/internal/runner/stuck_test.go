//go:build linux

package runner

import (
	"bufio"
	"context"
	"errors"
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

	"github.com/agentco/agent/providers/bash/internal/keeper"
)

// roleVariable makes the test binary somebody else: see play.
const roleVariable = "RUNNER_TEST_ROLE"

// play is either root, as a program is that sudo starts, until it is killed; or an ordinary user who runs a command and
// says what became of it.
func play(role string) {
	if role == "root" {
		fmt.Println(syscall.Setuid(0))
		time.Sleep(time.Hour)
	}
	pool, err := keeper.Open(nil)
	if err == nil {
		null, _ := os.Open(os.DevNull)
		dir, _ := os.Open("/")
		ctx, cancel := context.WithCancel(context.Background())
		_, err = Run(ctx, pool, Command{
			Spec: keeper.Spec{
				Path: "/bin/sh", Args: []string{"sh", "-c", role}, Env: []string{"PATH=" + os.Getenv("PATH"), roleVariable + "=root"},
				Dir: dir, Stdin: null,
			},
		}, func(Stream, []byte) { cancel() })
	}
	var stuck *StuckError
	if errors.As(err, &stuck) {
		fmt.Println(stuck.Exited, strings.Trim(fmt.Sprint(stuck.Left), "[]"))
	}
	fmt.Println(err, pool.Close())
	os.Exit(0)
}

// What sudo starts cannot be killed by who asked for it. Nobody waits for it for ever.
func TestStuck(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make a program that has its rights")
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755)) // so that the user gets there
	require.NoError(t, os.Chmod(dir, 0o777))
	rooted, said := filepath.Join(dir, "rooted"), filepath.Join(dir, "said")
	require.NoError(t, exec.Command("cp", "/proc/"+strconv.Itoa(os.Getpid())+"/exe", rooted).Run())
	require.NoError(t, os.Chmod(rooted, 0o755|os.ModeSetuid))
	for _, c := range []struct {
		name, script, exited string
	}{
		{"left behind", rooted + " >" + said + " & until test -s " + said + "; do sleep 0.01; done", "true"},
		{"as the command", "exec " + rooted, "false"},
	} {
		t.Run(c.name, func(t *testing.T) {
			user := exec.Command("/proc/self/exe")
			user.Env = append(os.Environ(), roleVariable+"="+c.script)
			user.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			out, err := user.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, user.Start())
			lines := bufio.NewScanner(out)
			require.True(t, lines.Scan())
			exited, left, _ := strings.Cut(lines.Text(), " ")
			require.Equal(t, c.exited, exited)
			pid, err := strconv.Atoi(left)
			require.NoError(t, err)
			require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
			require.True(t, lines.Scan())
			require.Contains(t, lines.Text(), "does not die of SIGKILL")
			require.NoError(t, user.Wait())
		})
	}
}

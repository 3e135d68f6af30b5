//go:build linux

package shell

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInvoke(t *testing.T) {
	long := strings.Repeat("# comment\n", 20_000)
	for _, name := range []string{"bash", "sh", "dash"} {
		path, err := Find(name)
		if err != nil {
			t.Logf("%s is not installed", name)
			continue
		}
		for _, c := range []struct{ name, command, want string }{
			{"short", "echo $0", name + "\n"},
			{"long", long + "echo $0", name + "\n"},
			{"quotes", `echo "a b"'c'\d; echo $((1+1))`, "a bcd\n2\n"},
			{"long with quotes", long + `echo "a b"'c'\d; echo $((1+1))`, "a bcd\n2\n"},
			{"long, reads its own input", long + "cat", "input"},
			{"long, its file is closed", long + "(: <&3) 2>/dev/null || echo closed", "closed\n"},
			{"option-like", "--version 2>/dev/null || echo no", "no\n"},
			{"exit code in a long one", long + "exit 7", ""},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				invocation, err := Invoke(path, c.command)
				require.NoError(t, err)
				cmd := exec.Command(path)
				cmd.Args, cmd.Stdin = invocation.Args, strings.NewReader("input")
				if invocation.Script != nil {
					cmd.ExtraFiles = []*os.File{invocation.Script}
					defer func() { require.NoError(t, invocation.Script.Close()) }()
				}
				out, err := cmd.Output()
				if strings.HasSuffix(c.command, "exit 7") {
					require.Equal(t, 7, cmd.ProcessState.ExitCode())
				} else {
					require.NoError(t, err)
				}
				require.Equal(t, c.want, string(out))
			})
		}
	}
}

func TestFind(t *testing.T) {
	path, err := Find("")
	require.NoError(t, err)
	require.Regexp(t, `^/.*/(bash|sh)$`, path)
	_, err = Find("nonexistent-shell")
	require.ErrorIs(t, err, exec.ErrNotFound)
}

func TestFile(t *testing.T) {
	f, err := File("stdin", "text")
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	text, err := io.ReadAll(f)
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
	require.NoFileExists(t, f.Name())
}

//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/agentco/agent/providers/bash/internal/sandbox"
	"github.com/agentco/agent/sdk/sdktest"
)

// needsLandlock skips a test where the system cannot confine commands.
func needsLandlock(t testing.TB) {
	t.Helper()
	policy, err := sandbox.Confine()
	require.NoError(t, err)
	if err := policy.Offline().Available(); err != nil {
		t.Skip(err)
	}
}

// What a shell and its children try, however they got away from it.
func TestConfinedCommands(t *testing.T) {
	needsLandlock(t)
	h := start(t, fields{"sandbox": "landlock"})
	out := t.TempDir()
	for _, c := range []struct{ name, command string }{
		{"a redirection", "echo x >$OUT/x"},
		{"a child", "sh -c 'echo x >$OUT/x'"},
		{"a session of its own", "setsid -w sh -c 'echo x >$OUT/x'"},
		{"a job in the background", "(echo x >$OUT/x) & wait $!"},
		{"a daemon", "setsid -f sh -c 'echo x >$OUT/x'; sleep 0.2; test -e $OUT/x"},
		{"a link", "ln -s $OUT l; echo x >l/x"},
		{"a move", "echo x >y; mv y $OUT/x"},
		{"a copy", "echo x >y; cp y $OUT/x"},
		{"a removal", "rm $OUT/kept"},
		{"a truncation", ": >$OUT/kept"},
		{"an edit in place", "sed -i s/a/b/ $OUT/kept"},
		{"another directory", "cd $OUT && touch x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(out+"/kept", []byte("kept"), 0o600))
			r := run(t, h, "export OUT="+out+"\n"+c.command)
			require.NotEqualValues(t, 0, r.Result["exit_code"], r.Stderr)
			entries, err := os.ReadDir(out)
			require.NoError(t, err)
			require.Len(t, entries, 1)
			kept, err := os.ReadFile(out + "/kept")
			require.NoError(t, err)
			require.Equal(t, "kept", string(kept))
		})
	}
}

func TestConfinedCommandsWork(t *testing.T) {
	needsLandlock(t)
	h := start(t, fields{"sandbox": "landlock"})
	for _, command := range []string{
		"mkdir -p a/b && echo x >a/b/c && mv a/b/c a/d && ln a/d e && rm -r a",
		"f=$(mktemp) && echo x >$f && rm $f", // TMPDIR
		"cat <<E\nx\nE",
		"echo x >/dev/null 2>/dev/stdout | cat",
		"echo x >/dev/stderr",
		"git init -q r && cd r && git -c user.name=x -c user.email=x@example.com commit -q --allow-empty -m x",
		"cat /etc/passwd >/dev/null && ls / >/dev/null",
		"diff <(echo a) <(echo a)",
	} {
		t.Run(command, func(t *testing.T) {
			r := run(t, h, command)
			require.EqualValues(t, 0, r.Result["exit_code"], "%s", r.Stderr)
		})
	}
}

// The root is known by what it is, not by its name.
func TestConfinedRootBehindALink(t *testing.T) {
	needsLandlock(t)
	base := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(base, "real"), 0o700))
	require.NoError(t, os.Symlink("real", filepath.Join(base, "link")))
	h := startIn(t, filepath.Join(base, "link"), fields{"sandbox": "landlock", "env": fields{"TMPDIR": t.TempDir()}})
	run(t, h, "echo x >y")
	require.FileExists(t, filepath.Join(base, "real/y"))
	require.NoError(t, os.Remove(filepath.Join(base, "link")))
	require.NoError(t, os.Symlink("/", filepath.Join(base, "link")))
	r := bashCall(t, h, fields{"command": "echo x >" + base + "/z", "cwd": filepath.Join(base, "real")})
	require.EqualValues(t, 1, r.Result["exit_code"])
	require.NoFileExists(t, filepath.Join(base, "z"))
}

func TestOfflineCommands(t *testing.T) {
	needsLandlock(t)
	const connect = "exec 2>&1; for i in 1; do (exec 3<>/dev/tcp/127.0.0.1/9) ; done"
	require.Contains(t, run(t, start(t, nil), connect).Stdout, "Connection refused", "nobody listens there")
	require.Contains(t, run(t, start(t, fields{"network": false}), connect).Stdout, "Permission denied")
	require.Contains(t, run(t, start(t, fields{"network": false, "sandbox": "landlock"}), connect).Stdout, "Permission denied")
}

// A sandbox that is asked for is there, or the provider is not.
func TestSandboxThatCannotBeHad(t *testing.T) {
	if os.Getenv(noLandlock) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSandboxThatCannotBeHad$", "-test.v", "-provider="+*binaryPath)
		cmd.Env = append(os.Environ(), noLandlock+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "--- PASS")
		return
	}
	takeLandlockAway(t)
	err := sdktest.ToolError(sdktest.Configure(t, provider(), fields{"sandbox": "landlock", "allowed_roots": []any{t.TempDir()}}))
	require.NotNil(t, err)
	require.Equal(t, invalid, err.GetCategory())
	require.Contains(t, err.GetMessage(), "sandbox: commands cannot be confined here")
	require.Contains(t, err.GetMessage(), "Linux 6.2 or later")
	if runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" { // a filter for sockets does without it
		r := run(t, start(t, fields{"network": false}), "exec 3<>/dev/tcp/127.0.0.1/9")
		require.Contains(t, r.Stderr, "Permission denied")
	}
	h := start(t, nil)
	require.Equal(t, "x\n", run(t, h, "echo x").Stdout, "nothing was asked for")
	r := h.Call(t.Context(), "shell_read", fields{"command": "echo x"})
	require.Equal(t, "x\n", r.Stdout, "the rules do without it")
}

// noLandlock is in the environment of a test process that pretends to be on an old kernel.
const noLandlock = "TEST_WITHOUT_LANDLOCK"

// takeLandlockAway makes the kernel answer this process, and what it starts, as one that
// has never heard of Landlock.
func takeLandlockAway(t *testing.T) {
	t.Helper()
	const load, equal, answer = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	program := []unix.SockFilter{
		{Code: load, K: 0}, // the number of the call
		{Code: equal, Jf: 1, K: unix.SYS_LANDLOCK_CREATE_RULESET},
		{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: answer, K: unix.SECCOMP_RET_ALLOW},
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	require.NoError(t, unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter)))
	require.Zero(t, errno)
}

// BenchmarkConfined is a call with and without the sandbox.
func BenchmarkConfined(b *testing.B) {
	needsLandlock(b)
	for name, c := range map[string]fields{"free": nil, "confined": {"sandbox": "landlock"}, "offline": {"sandbox": "landlock", "network": false}} {
		b.Run(name, func(b *testing.B) {
			h := start(b, c)
			for b.Loop() {
				run(b, h, "true")
			}
		})
	}
}

// BenchmarkShellRead is a call of shell_read, with what it asks Git before and without.
func BenchmarkShellRead(b *testing.B) {
	for _, command := range []string{"true", "git version"} {
		b.Run(command, func(b *testing.B) {
			h := start(b, nil)
			for b.Loop() {
				require.Nil(b, h.Call(b.Context(), "shell_read", fields{"command": command}).Err)
			}
		})
	}
}

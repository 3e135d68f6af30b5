package subject

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// speak is a server of JSON-RPC in lines that reads files and runs commands.
func speak(in io.Reader, out io.Writer) {
	var mu sync.Mutex
	pids := map[string]int{}
	say := func(m any) {
		b, _ := json.Marshal(m)
		mu.Lock()
		defer mu.Unlock()
		_, _ = out.Write(append(b, '\n'))
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var m struct {
			ID     *int
			Method string
			Params struct{ Path, Call, Command string }
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		answer := func(result any) { say(map[string]any{"id": m.ID, "result": result}) }
		switch m.Method {
		case "read":
			if b, err := os.ReadFile(m.Params.Path); err == nil {
				answer(map[string]any{"bytes": b})
			} else {
				say(map[string]any{"id": m.ID, "error": map[string]any{"message": err.Error()}})
			}
		case "run", "start":
			c := exec.Command("sh", "-c", m.Params.Command)
			c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			printed, _ := c.StdoutPipe()
			_ = c.Start()
			mu.Lock()
			pids[m.Params.Call] = c.Process.Pid
			mu.Unlock()
			if m.Method == "start" {
				answer(fmt.Sprintf("PID %d", c.Process.Pid))
			}
			go func() {
				buf := make([]byte, 100)
				for n, err := 0, error(nil); err == nil; {
					n, err = printed.Read(buf)
					say(map[string]any{"method": "out", "params": map[string]any{"of": m.Params.Call, "bytes": base64.StdEncoding.EncodeToString(buf[:n])}})
				}
				if _ = c.Wait(); m.Method == "run" {
					answer(nil)
				}
			}()
		case "kill":
			mu.Lock()
			pid := pids[m.Params.Call]
			mu.Unlock()
			_ = syscall.Kill(-pid, syscall.SIGKILL)
			answer(nil)
		case "silence":
		case "end":
			return
		default:
			answer(map[string]any{})
		}
	}
}

// speaker is a peer that this binary is, and the variables for it.
func speaker(t *testing.T) (*Peer, Vars) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	run := Step{Tool: "run", Args: map[string]any{"call": "${call}", "command": "${cmd}"}}
	start := Step{Tool: "start", Args: map[string]any{"call": "${call}", "command": "${cmd}"}, Capture: map[string]string{"pid": `PID (\d+)`}}
	kill := &Step{Tool: "kill", Args: map[string]any{"call": "${call}"}}
	return &Peer{Name: "speaker", Kind: "rpc", Command: []string{self}, Env: map[string]string{"SPEAK": "yes"},
		Protocol: &Protocol{
			Handshake: []map[string]any{{"id": 1.0, "method": "hello"}, {"method": "welcome"}}, Ready: Step{Tool: "ping"},
			Output: "out", Call: "of", Base64: "bytes",
		},
		Ops: map[string]*Op{
			"read":    {Steps: []Step{{Tool: "read", Args: map[string]any{"path": "${path}"}, Base64: "bytes"}}},
			"run":     {Steps: []Step{run}},
			"cancel":  {Steps: []Step{run}, Cancel: kill},
			"behind":  {Steps: []Step{start}, Cancel: kill},
			"silence": {Steps: []Step{{Tool: "silence"}}},
			"end":     {Steps: []Step{{Tool: "end"}}},
		}}, Vars{"fx": dir, "home": dir, "PATH": os.Getenv("PATH"), "path": filepath.Join(dir, "a")}
}

func TestRPC(t *testing.T) {
	p, vars := speaker(t)
	require.NoError(t, os.WriteFile(vars["path"], []byte("hello\n"), 0o644))
	took, _, err := p.Cold(t.Context(), vars)
	require.NoError(t, err)
	require.Positive(t, took)
	x, err := p.Dial(t.Context(), vars)
	require.NoError(t, err)
	defer x.Close()

	s, err := x.Batch(t.Context(), "read", Batch{N: 10, Workers: 3, Vars: vars})
	require.NoError(t, err)
	require.Len(t, s.Took, 10)
	require.Equal(t, "hello\n", s.Text)
	require.Greater(t, s.WireIn, 10*len(base64.StdEncoding.EncodeToString([]byte("hello\n"))))
	_, err = x.Batch(t.Context(), "read", Batch{N: 1, Vars: vars.With("path", "none")})
	require.ErrorContains(t, err, "no such file")

	s = requireOutputBeforeTheAnswer(t, x, vars)
	require.Equal(t, len("onetwo"), s.Output)

	limited, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = x.Batch(limited, "silence", Batch{N: 1, Vars: vars})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = x.Batch(t.Context(), "end", Batch{N: 1, Vars: vars})
	require.ErrorContains(t, err, "ended")
	require.Eventually(t, x.(interface{ Ended() bool }).Ended, time.Minute, time.Millisecond)
}

// requireOutputBeforeTheAnswer runs a command that prints, sleeps and ends. A slow machine gets a longer sleep to tell by.
func requireOutputBeforeTheAnswer(t *testing.T, x Subject, vars Vars) Samples {
	t.Helper()
	for sleep := 300 * time.Millisecond; ; sleep *= 2 {
		command := fmt.Sprintf("printf o''ne; sleep %v; printf two", sleep.Seconds())
		s, err := x.Batch(t.Context(), "run", Batch{N: 1, Vars: vars.With("cmd", command, "streams", "yes", "first", "one")})
		require.NoError(t, err)
		if early := s.Took[0] - s.First[0]; early > Milliseconds(sleep)/2 || sleep > 20*time.Second {
			require.Greater(t, early, Milliseconds(sleep)/2)
			return s
		}
	}
}

// What a peer ends by a tool of its own: a call that runs, and a process that it started in the background.
func TestKilled(t *testing.T) {
	for _, op := range []string{"cancel", "behind"} {
		t.Run(op, func(t *testing.T) {
			p, vars := speaker(t)
			x, err := p.Dial(t.Context(), vars)
			require.NoError(t, err)
			defer x.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			begun := filepath.Join(vars["fx"], "begun")
			ended := make(chan error, 1)
			go func() {
				_, err := x.Batch(ctx, op, Batch{N: 1, Vars: vars.With("cmd", "echo $$ > "+begun+"; exec sleep 100")})
				ended <- err
			}()
			var pid int
			require.Eventually(t, func() bool {
				b, _ := os.ReadFile(begun)
				_, err := fmt.Sscan(string(b), &pid)
				return err == nil
			}, time.Minute, time.Millisecond)
			require.Empty(t, ended, "it waits to be cancelled")
			cancel()
			require.NoError(t, <-ended)
			require.Eventually(t, func() bool { return syscall.Kill(pid, 0) != nil }, time.Minute, time.Millisecond)
		})
	}
}

// What comes between repetitions is in no figure.
func TestBetween(t *testing.T) {
	dir := t.TempDir()
	p := &Peer{Name: "sh", Kind: "cli", Ops: map[string]*Op{"once": {
		Between: []Step{{Argv: []string{"sh", "-c", "sleep 0.5; rm -f made"}}},
		Steps:   []Step{{Argv: []string{"sh", "-c", "set -C; : > made"}}},
	}}}
	vars := Vars{"fx": dir, "home": dir, "PATH": os.Getenv("PATH")}
	x, err := p.Dial(t.Context(), vars)
	require.NoError(t, err)
	begun := time.Now()
	s, err := x.Batch(t.Context(), "once", Batch{N: 2, Vars: vars})
	require.NoError(t, err)
	require.Len(t, s.Took, 2)
	require.LessOrEqual(t, s.Took[0]+s.Took[1], Milliseconds(time.Since(begun))-500)
}

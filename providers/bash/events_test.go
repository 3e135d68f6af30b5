//go:build linux

package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// The sequence of the seed document, with the command's own output.
func TestSeedSequence(t *testing.T) {
	h := start(t, nil)
	command := `printf 'ok  \tgithub.com/pluggableharness/agent/foo\t0.4s\n'
printf 'FAIL\tgithub.com/pluggableharness/agent/bar\t0.2s\n'; until test -e arrived; do sleep 0.01; done
printf -- '--- FAIL: TestBar (0.00s)\n' >&2; exit 1`
	stdout := ""
	r := h.Watch(t.Context(), h.Dir, "bash", fields{"command": command}, func(e *toolv1.ToolEvent) {
		if stdout += string(e.GetOutputChunk().GetData()); strings.HasSuffix(stdout, "0.2s\n") {
			require.NoError(t, os.WriteFile(h.Dir+"/arrived", nil, 0o600))
		}
	})
	require.Equal(t, []string{"progress: starting process", "stdout", "stderr", "exit_status", "result"}, sequence(r))
	require.Equal(t, "ok  \tgithub.com/pluggableharness/agent/foo\t0.4s\nFAIL\tgithub.com/pluggableharness/agent/bar\t0.2s\n", r.Stdout)
	require.Equal(t, "--- FAIL: TestBar (0.00s)\n", r.Stderr)
	require.EqualValues(t, 1, exitOf(t, r).GetExitCode())
	require.Nil(t, exitOf(t, r).Signal)
	require.EqualValues(t, 1, r.Result["exit_code"])
	require.Equal(t, "1 package failed", r.Result["summary"])
}

// The cancelled sequence of the seed document; the note comes over the callback channel.
func TestSeedCancellation(t *testing.T) {
	h := start(t, nil)
	r := cancelAt(t, h, `printf 'ok  \tgithub.com/pluggableharness/agent/foo\t0.4s\n'; exec sleep 1000`, "0.4s\n")
	require.Nil(t, r.Err)
	require.Nil(t, r.Result)
	require.NotNil(t, r.Report)
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, r.Report.GetCategory())
	require.Equal(t, "process received SIGTERM; output above is valid", r.Report.GetMessage())
	require.Equal(t, map[string]any{"note": "process received SIGTERM; output above is valid"},
		r.Report.GetDetails().AsMap()["partial_result"])
}

func TestOutputBytesAreExact(t *testing.T) {
	for _, pty := range []bool{true, false} {
		h := start(t, fields{"pty": pty})
		for _, c := range []struct{ name, command, want string }{
			{"no newline", `printf ok`, "ok"},                                                                           // SO-24
			{"newlines stay", `printf 'a\nb\n'`, "a\nb\n"},                                                              // SO-25
			{"carriage returns stay", `printf 'a\r\nb\r'`, "a\r\nb\r"},                                                  // SO-25
			{"no prompt, no echo", `echo hi`, "hi\n"},                                                                   // SO-26
			{"control characters", `printf '\003\004\021\023\177\000x'`, "\x03\x04\x11\x13\x7f\x00x"},                   // no meaning on a raw terminal
			{"split character", `printf 'pre \xe2'; sleep 0.15; printf '\x94\x80 post\n'`, "pre ─ post\n"},              // SO-19
			{"half a character at the end", `printf 'x\xe2\x94'`, "x\xe2\x94"},                                          // SO-19
			{"here-document in a substitution", hereDocument(), "2440\n"},                                               // SO-11
			{"progress bar", `for i in 1 2 3; do printf '\r\033[2K%d%%' $i; done`, "\r\x1b[2K1%\r\x1b[2K2%\r\x1b[2K3%"}, // SO-29: raw
		} {
			t.Run(fmt.Sprintf("pty %v/%s", pty, c.name), func(t *testing.T) {
				r := run(t, h, c.command)
				require.Equal(t, c.want, r.Stdout)
				require.Empty(t, r.Stderr)
				require.EqualValues(t, 0, r.Result["exit_code"])
				require.EqualValues(t, len(c.want), r.Result["output_bytes"])
				require.Equal(t, strings.ToValidUTF8(c.want, "\uFFFD\uFFFD")[:1], r.Result["output"].(string)[:1])
			})
		}
	}
}

func hereDocument() string {
	return "echo \"$(cat <<'E'\n" + strings.Repeat(strings.Repeat("k", 60)+"\n", 40) + "E\n)\" | wc -c"
}

func TestInvalidTextInTheResult(t *testing.T) {
	r := run(t, start(t, nil), `printf 'a\xff\xfeb\xe2\x94'`)
	require.Equal(t, "a\xff\xfeb\xe2\x94", r.Stdout)
	require.Equal(t, "a\uFFFD\uFFFDb\uFFFD\uFFFD", r.Result["output"])
}

// SO-28: the order in a stream is exact, that across them as good as the machine lets it be.
func TestOrderAcrossStreams(t *testing.T) {
	h := start(t, nil)
	want := []string{"progress: starting process", "stdout", "stderr", "stdout", "stderr", "stdout", "stderr", "exit_status", "result"}
	for attempt := range 200 { // a busy machine is right only now and then
		r := run(t, h, `for i in 1 2 3; do echo o$i; sleep 0.05; echo e$i >&2; sleep 0.05; done`)
		require.Equal(t, "o1\no2\no3\n", r.Stdout)
		require.Equal(t, "e1\ne2\ne3\n", r.Stderr)
		if slices.Equal(want, sequence(r)) && r.Result["output"] == "o1\ne1\no2\ne2\no3\ne3\n" {
			return
		}
		t.Log("out of order at attempt", attempt, sequence(r))
	}
	t.Fail()
}

// SO-23
func TestNothingIsLostAtExit(t *testing.T) {
	for _, processors := range []string{"1", "2"} {
		for _, pty := range []bool{true, false} {
			t.Run(fmt.Sprintf("GOMAXPROCS %s, pty %v", processors, pty), func(t *testing.T) {
				b := launch(t, "export GOMAXPROCS="+processors+";", fields{"pty": pty})
				for i := range *exits {
					o := collect(b.invoke(t.Context(), `echo done; echo error >&2`, nil))
					require.Equal(t, "done\n", o.stdout, "run %d", i)
					require.Equal(t, "error\n", o.stderr, "run %d", i)
					require.EqualValues(t, 11, o.last().GetResult().GetPayload().AsMap()["output_bytes"])
				}
			})
		}
	}
}

// SO-23: the processes that keep commands are being started while others end.
func TestNothingIsLostBesideOthers(t *testing.T) {
	h := start(t, nil)
	var calls sync.WaitGroup
	for i := range 60 {
		calls.Go(func() {
			r := bashCall(t, h, fields{"command": fmt.Sprintf("echo %d; sleep 0.2; echo end", i)})
			assert.Equal(t, fmt.Sprintf("%d\nend\n", i), r.Stdout)
		})
	}
	calls.Wait()
}

// SO-23
func TestMuchAtExit(t *testing.T) {
	h := start(t, nil)
	for _, size := range []int{1, 4095, 4096, 65536, 1 << 20} {
		r := run(t, h, fmt.Sprintf(`head -c %d /dev/zero | tr '\0' x; head -c %d /dev/zero | tr '\0' y >&2`, size, size))
		require.Equal(t, strings.Repeat("x", size), r.Stdout)
		require.Equal(t, strings.Repeat("y", size), r.Stderr)
	}
}

// SO-20, SO-22: both ends of a long output are there, with nothing broken at the seam, and
// how much is missing.
func TestLongOutput(t *testing.T) {
	h := start(t, nil)
	for _, c := range []struct {
		name, command, first, last string
		total, code                int
	}{
		{"characters", `printf '─%.0s' {1..400000}`, "───", "───", 1_200_000, 0},
		{"an error at the end", "seq 1 500000; echo FINAL-ERROR >&2; exit 2", "1\n2\n3\n", "499999\n500000\nFINAL-ERROR\n", 3_388_895 + 12, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, h, c.command)
			text := r.Result["output"].(string)
			require.LessOrEqual(t, len(text), 30_000)
			require.NotContains(t, text, "\uFFFD")
			require.True(t, strings.HasPrefix(text, c.first))
			require.True(t, strings.HasSuffix(text, c.last), text[len(text)-50:])
			cut := regexp.MustCompile(`\n\[\.\.\. (\d+) bytes cut \.\.\.\]\n`).FindStringSubmatch(text)
			require.NotNil(t, cut)
			require.Equal(t, strconv.Itoa(c.total-len(text)+len(cut[0])), cut[1])
			require.EqualValues(t, c.total, r.Result["output_bytes"])
			require.EqualValues(t, c.code, r.Result["exit_code"])
		})
	}
}

func TestStatuses(t *testing.T) {
	h := start(t, nil)
	for _, c := range []struct {
		name, command string
		code          int
		signal        string
	}{
		{"success", "true", 0, ""},
		{"failure", "exit 42", 42, ""},
		{"not found", "nonexistent-command-xyz", 127, ""},
		{"not executable", "/", 126, ""},
		{"syntax error", "echo 'abc", 2, ""},                         // SO-10
		{"another", `git commit -m \"fix(x): y\"`, 2, ""},            // SO-10
		{"killed", "echo partial; kill -KILL $$", 137, "SIGKILL"},    // SO-13
		{"terminated", "kill $$", 143, "SIGTERM"},                    // SO-13
		{"child was killed", "sh -c 'kill -9 $$'; exit $?", 137, ""}, // SO-13
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, h, c.command)
			require.EqualValues(t, c.code, exitOf(t, r).GetExitCode())
			require.Equal(t, c.signal, exitOf(t, r).GetSignal())
			require.EqualValues(t, c.code, r.Result["exit_code"])
			if c.signal != "" {
				require.Equal(t, c.signal, r.Result["signal"])
			} else {
				require.NotContains(t, r.Result, "signal")
			}
		})
	}
	require.Equal(t, "ok\n", run(t, h, "echo ok").Stdout)
}

func TestMessagesOfTheShellReadWell(t *testing.T) {
	h := start(t, nil)
	long := strings.Repeat("# a long comment\n", 20_000)
	for _, c := range []struct{ name, command, want string }{
		{"short", "true\nnonexistent-xyz", "bash: line 2: nonexistent-xyz: command not found\n"},
		{"long", long + "nonexistent-xyz", "bash: line 20001: nonexistent-xyz: command not found\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, h, c.command)
			require.Contains(t, r.Stderr, c.want)
			require.EqualValues(t, 127, r.Result["exit_code"])
		})
	}
}

// SO-34
func TestLongCommand(t *testing.T) {
	h := start(t, nil)
	r := run(t, h, "cat > big.txt <<'E'\n"+strings.Repeat("k", 200_000)+"\nE\nwc -c < big.txt; ls -l /proc/self/fd | grep -c memfd; echo $0; cat")
	require.Equal(t, "200001\n0\nbash\n", r.Stdout)
	require.Empty(t, r.Stderr)
}

// SO-34: what is not run is no success.
func TestLongCommandWithoutPath(t *testing.T) {
	h := start(t, fields{"env": fields{"PATH": "/nonexistent"}})
	r := run(t, h, "exit 7\n#"+strings.Repeat("k", 200_000))
	require.Contains(t, []any{7.0, 127.0}, r.Result["exit_code"], "127 where the system has no cat in its own places: %s", r.Stderr)
}

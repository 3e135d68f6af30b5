package summary

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const goTestMixed = `ok  	github.com/pluggableharness/agent/foo	0.4s
--- FAIL: TestBar (0.00s)
    bar_test.go:11: got 2, want 3
FAIL
FAIL	github.com/pluggableharness/agent/bar	0.2s
?   	github.com/pluggableharness/agent/cmd	[no test files]
FAIL
`

const goTestBuild = `# example.com/x/b [example.com/x/b.test]
b/b_test.go:7:2: undefined: missing
FAIL	example.com/x/b [build failed]
--- FAIL: TestA (0.01s)
FAIL
FAIL	example.com/x/a	0.011s
ok  	example.com/x/c	(cached)	coverage: 81.0% of statements
FAIL
`

const goTestJSON = `{"Time":"2026-11-30T13:40:04.1Z","Action":"start","Package":"example.com/x/c"}
{"Time":"2026-11-30T13:40:04.1Z","Action":"fail","Package":"example.com/x/c","Test":"TestC","Elapsed":0}
{"Time":"2026-11-30T13:40:04.1Z","Action":"output","Package":"example.com/x/c","Output":"FAIL\\texample.com/x/c\\t0.003s\\n"}
{"Time":"2026-11-30T13:40:04.1Z","Action":"fail","Package":"example.com/x/c","Elapsed":0.004}
{"ImportPath":"example.com/x/b [example.com/x/b.test]","Action":"build-fail"}
{"Time":"2026-11-30T13:40:04.3Z","Action":"fail","Package":"example.com/x/b","Elapsed":0,"FailedBuild":"example.com/x/b [example.com/x/b.test]"}
{"Time":"2026-11-30T13:40:04.4Z","Action":"pass","Package":"example.com/x/a","Elapsed":0.011}
`

const pytestFailed = `============================= test session starts ==============================
platform linux -- Python 3.12.3, pytest-8.3.3, pluggy-1.5.0
collected 4 items

tests/test_math.py .F..                                                  [100%]

=================================== FAILURES ===================================
___________________________________ test_add ___________________________________
>       assert add(1, 1) == 3
E       assert 2 == 3
=========================== short test summary info ============================
FAILED tests/test_math.py::test_add - assert 2 == 3
========================= 1 failed, 3 passed in 0.12s ==========================
`

const pytestErrors = `==================================== ERRORS ====================================
____________________ ERROR collecting tests/test_import.py _____________________
E   ModuleNotFoundError: No module named 'nothing'
!!!!!!!!!!!!!!!!!!!! Interrupted: 2 errors during collection !!!!!!!!!!!!!!!!!!!
============================== 2 errors in 0.34s ===============================
`

const jestFailed = `FAIL src/sum.test.js
  ● adds

    expect(received).toBe(expected)

Test Suites: 1 failed, 2 passed, 3 total
Tests:       2 failed, 1 skipped, 9 passed, 12 total
Snapshots:   0 total
Time:        1.204 s
Ran all test suites.
`

const jestBroken = `FAIL src/sum.test.js
  ● Test suite failed to run

    SyntaxError: Unexpected token (3:1)

Test Suites: 1 failed, 1 total
Tests:       0 total
Snapshots:   0 total
Time:        0.4 s
`

const vitestFailed = `
 Test Files  1 failed | 2 passed (3)
      Tests  1 failed | 9 passed (10)
   Start at  10:11:12
   Duration  732ms
`

const cargoFailed = `   Compiling thing v0.1.0 (/src/thing)
running 3 tests
test tests::one ... ok
test tests::two ... FAILED

failures:
    tests::two

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
`

const cargoPassed = `running 3 tests
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests thing

running 1 test
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.27s
`

func TestLine(t *testing.T) {
	for _, c := range []struct {
		name           string
		stdout, stderr string
		code           int
		signal         string
		want           string
	}{
		{"go test, one failed", goTestMixed, "", 1, "", "1 package failed"},
		{"go test, build failed too", goTestBuild, "", 1, "", "2 packages failed, 1 of them to build"},
		{"go test -json", goTestJSON, "", 1, "", "2 packages failed, 1 of them to build"},
		{"go test -json, all well", goTestJSON[strings.LastIndex(goTestJSON, "{\"Time"):], "", 0, "", "1 package passed"},
		{"other JSON", `{"Action":"fail","reason":"Test"}` + "\n" + `{"Action":"pass","Package":"` + "\n", "", 1, "", `{"Action":"pass","Package":"`},
		{"go test, all passed", "ok  \ta\t0.1s\nok  \tb\t(cached)\n?   \tc\t[no test files]\nok  \td\t2s [no tests to run]\n", "", 0, "", "3 packages passed"},
		{"go test, one package", "PASS\nok  \texample.com/x\t0.002s\n", "", 0, "", "1 package passed"},
		{"go test, retried until it passed", "FAIL\ta\t0.1s\nok  \ta\t0.1s\n", "", 0, "", "1 package passed"},
		{"go test, failure hidden by a pipe", goTestMixed, "", 0, "", "1 package failed"},
		{"go test passed, what came after failed", "ok  \ta\t0.1s\n", "sh: deploy: not found\n", 127, "", "sh: deploy: not found"},
		{"go test without a newline at the end", "FAIL\ta\t0.1s", "", 1, "", "1 package failed"},
		{"go test with carriage returns", "FAIL\ta\t0.1s\r\n", "", 1, "", "1 package failed"},
		{"pytest", pytestFailed, "", 1, "", "1 test failed, 3 passed"},
		{"pytest, errors", pytestErrors, "", 2, "", "2 errors: ModuleNotFoundError: No module named 'nothing'"},
		{"pytest, quiet", "....\n4 passed in 0.01s\n", "", 0, "", "4 tests passed"},
		{"pytest, long", "== 2 failed, 1 passed, 1 warning in 75.20s (0:01:15) ==\n", "", 1, "", "2 tests failed, 1 passed"},
		{"jest", "", jestFailed, 1, "", "2 tests failed, 9 passed"},
		{"jest, suite does not load", "", jestBroken, 1, "", "1 suite failed"},
		{"vitest", vitestFailed, "", 1, "", "1 test failed, 9 passed"},
		{"cargo test", cargoFailed, "error: test failed, to rerun pass `--lib`\n", 101, "", "1 test failed, 2 passed"},
		{"cargo test, two binaries", cargoPassed, "", 0, "", "4 tests passed"},
		{"cargo does not compile", "", "error[E0425]: cannot find value\nerror: could not compile `thing` (lib) due to 1 previous error\n", 101, "", "error[E0425]: cannot find value"},
		{"the last tool has the word", goTestMixed + cargoPassed, "", 0, "", "4 tests passed"},
		{"make", "", "cc: error: x.c: No such file\nmake: *** [Makefile:2: all] Error 1\n", 2, "", "make: *** [Makefile:2: all] Error 1"},
		{"tsc", "src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.\n\n", "", 2, "", "src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'."},
		{"last line", "one\ntwo\n\n", "", 0, "", "two"},
		{"rules and brackets say nothing", "{\n  \"a\": 1\n}\n=====\n\n", "", 0, "", `"a": 1`},
		{"a failure is what was complained about", "copied 3 files\n", "cp: cannot stat 'x'\n", 1, "", "cp: cannot stat 'x'"},
		{"warnings of a success are not", "done\n", "warning: slow\n", 0, "", "done"},
		{"only warnings", "", "warning: slow\n", 0, "", "warning: slow"},
		{"progress bar", "  1%\r 50%\r100% done\n", "", 0, "", "100% done"},
		{"progress bar that ends with a return", "50%\r100%\r", "", 0, "", "100%"},
		{"long progress bar", strings.Repeat("\r 10% of a file with a long name", 1000) + "\rdone", "", 0, "", "done"},
		{"progress bar, then nothing", "50%\r\r\n", "", 0, "", "50%"},
		{"progress bar of escapes", "\x1b[1G\x1b[0K|\x1b[1G\x1b[0Kadded 3 packages\n", "", 0, "", "added 3 packages"},
		{"totals after a progress bar", "50%\r==== 1 failed, 2 passed in 0.13s ====\r\n", "", 1, "", "1 test failed, 2 passed"},
		{"tsc, a directory with a space", "my src/a.ts(3,7): error TS2322: no.\n", "", 2, "", "my src/a.ts(3,7): error TS2322: no."},
		{"colours", "\x1b[1;31merror:\x1b[0m it\tbroke\x1b]0;title\x07\n", "", 1, "", "error: it broke"},
		{"not text", "\xff\xfeabc\n", "", 0, "", "\uFFFDabc"},
		{"long line", strings.Repeat("─", 5000) + "\n", "", 0, "", strings.Repeat("─", 52) + "…"},
		{"nothing", "", "", 0, "", "no output"},
		{"nothing and failed", "", "", 3, "", "exit code 3, no output"},
		{"one newline", "\n", "", 0, "", "1 byte of output, blank"},
		{"blank and failed", "\n\n", "", 3, "", "exit code 3, 2 bytes of output, all blank"},
		{"nothing but escapes", "\x1b[0m\n", "", 0, "", "5 bytes of output, all blank"},
		{"a dot", ".\n", "", 0, "", "."},
		{"a rule", "---\n", "", 0, "", "---"},
		{"a bare line is the last one", "{\n}\n\n", "", 0, "", "}"},
		{"a bare line without an end", "!!!", "", 0, "", "!!!"},
		{"a bare line is no complaint", "copied 3 files\n", "----\n", 1, "", "copied 3 files"},
		{"a bare complaint", "{\n", "?\n", 1, "", "?"},
		{"signal", "working\n", "", 137, "SIGKILL", "killed by SIGKILL: working"},
		{"signal, silent", "", "", 143, "SIGTERM", "killed by SIGTERM"},
		{"go test, no test of that name", "ok  \ta\t0.1s [no tests to run]\nok  \tb\t0.1s [no tests to run]\n", "", 0, "", "no tests were run"},
		{"go test, no test files", "?   \ta\t[no test files]\n", "", 0, "", "no tests were run"},
		{"make runs go test", goTestMixed, "make: *** [Makefile:2: test] Error 1\n", 2, "", "1 package failed"},
		{"make within make", "", "make[1]: *** [Makefile:2: all] Error 3\nmake: *** [Makefile:5: sub] Error 2\n", 2, "", "make[1]: *** [Makefile:2: all] Error 3"},
		{"colour that ends on a line of its own", "\x1b[31mbroken\n\x1b[0m", "", 1, "", "broken"},
		{"strings to the terminal", "said\x1bPq#0~\x1b\\ this\x1b_x\x1b\\\n", "", 0, "", "said this"},
		{"controls of eight bits", "a\u009b31mb\u0085\n", "", 0, "", "a31mb"},
		{"coloured totals", "\x1b[31m=== \x1b[1m1 failed\x1b[0m, \x1b[32m2 passed\x1b[0m in 0.13s ===\x1b[0m\n", "", 1, "", "1 test failed, 2 passed"},
		{"nothing but trailers", "", "exit status 2\n", 1, "", "exit status 2"},
		{"a trailer of a success", "done\nat noon\n", "", 0, "", "at noon"},
		{"looks like totals, is not", "3 failed attempts in 2 days\nTests: see below\nok then\n", "", 0, "", "ok then"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, step := range []int{1, 13, 1 << 20} {
				var s Scanner
				for stream, text := range []string{c.stdout, c.stderr} {
					for ; text != ""; text = text[min(step, len(text)):] {
						s.Write(stream, []byte(text[:min(step, len(text))]))
					}
				}
				require.Equal(t, c.want, s.Line(c.code, c.signal))
			}
		})
	}
}

func TestIsLine(t *testing.T) {
	for _, c := range []struct {
		name            string
		output, summary string
		want            bool
	}{
		{"the last", "one\ntwo\n", "two", true},
		{"one before", "one\n  two  \n}\n", "two", true},
		{"without an end", "one\ntwo", "two", true},
		{"a part of one", "one two\n", "two", false},
		{"in colours", "\x1b[31mtwo\x1b[0m\r\n", "two", true},
		{"drawn over", "50%\r100%\n", "100%", true},
		{"a verdict", "ok  \ta\t1s\n", "1 package passed", false},
		{"no output", "", "no output", false},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, IsLine(c.output, c.summary)) })
	}
}

// The failure is counted although megabytes follow it.
func TestNothingIsForgotten(t *testing.T) {
	var s Scanner
	s.Write(0, []byte(goTestMixed))
	for range 1000 {
		s.Write(0, []byte(strings.Repeat("=== RUN   TestX\n", 100)))
	}
	s.Write(0, []byte("FAIL\tlast\t1s\n"))
	require.Equal(t, "2 packages failed", s.Line(1, ""))
}

func TestStreamsDoNotMixTheirLines(t *testing.T) {
	var s Scanner
	s.Write(0, []byte("FAIL\tone"))
	s.Write(1, []byte("warning: something\n"))
	s.Write(0, []byte("\t0.1s\n"))
	require.Equal(t, "1 package failed", s.Line(1, ""))
}

func FuzzLine(f *testing.F) {
	for _, seed := range []string{goTestMixed, pytestFailed, jestFailed, vitestFailed, cargoFailed, "\x1b[", "\x1b]0;x\x1b\\y", "a\r"} {
		f.Add([]byte(seed), 7, 1)
	}
	f.Fuzz(func(t *testing.T, in []byte, step, code int) {
		if step < 1 {
			return
		}
		var whole, parts Scanner
		whole.Write(0, in)
		for rest := in; len(rest) > 0; rest = rest[min(step, len(rest)):] {
			parts.Write(0, rest[:min(step, len(rest))])
		}
		line := whole.Line(code, "")
		require.Equal(t, line, parts.Line(code, ""))
		require.NotEmpty(t, line)
		require.NotContains(t, line, "\n")
		require.NotContains(t, line, "\x1b")
		require.Equal(t, strings.ToValidUTF8(line, "?"), line)
	})
}

func BenchmarkWrite(b *testing.B) {
	for name, line := range map[string]string{"yes": "y\n", "log": "2026-11-30T10:11:12Z INFO  request served in 12 ms path=/index.html status=200\n",
		"errors": "2026-11-30T10:11:12Z ERROR server.go:12: error: request failed in 1.2s: *** Test\n", "json": `{"time":"2026-11-30T10:11:12Z","level":"error","msg":"Test took 1.2s"}` + "\n"} {
		chunk := []byte(strings.Repeat(line, 32<<10/len(line)))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(chunk)))
			var s Scanner
			for b.Loop() {
				s.Write(0, chunk)
			}
		})
	}
}

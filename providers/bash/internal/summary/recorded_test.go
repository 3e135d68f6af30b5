package summary

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recordings are what real tools printed; the first line of a file says which and how it
// was called. Long ones are cut in the middle, and paths replaced.
var recordings = map[string]string{
	"cargo-build":        "error[E0425]: cannot find value `c` in this scope",
	"cargo-fail":         "1 test failed, 1 passed",
	"cargo-fail-all":     "1 test failed, 3 passed",
	"cargo-pass":         "4 tests passed",
	"cargo-warn":         "Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.10s",
	"general-git":        "fatal: not a git repository (or any of the parent directories): .git",
	"general-go-panic":   "panic: assignment to entry in nil map",
	"general-node":       "Error: boom",
	"general-npm":        "npm error enoent This is related to npm not being able to find a file.",
	"general-progress":   "done",
	"general-python":     "ValueError: no",
	"general-rust-panic": "index out of bounds: the len is 0 but the index is 0",
	"general-usage":      "ls: unrecognized option '--nonsense'",
	"go-build":           "2 packages failed, 1 of them to build",
	"go-compile":         "price/price.go:1:47: cannot use s (variable of type string) as int value in return statement",
	"go-fail":            "1 package failed",
	"go-json":            "2 packages failed (panic: assignment to entry in nil map)",
	"go-json-build":      "1 package failed to build: /src/shop/price/bad_test.go:2:1: wrong signature for TestBad, must be: func TestBad(t *testing.T)",
	"go-missing":         "1 package could not be tested",
	"go-panic":           "1 package failed (panic: assignment to entry in nil map)",
	"go-pass":            "2 packages passed",
	"go-setup":           "1 package failed to build: price/bad_test.go:1:23: expected ')', found '{'",
	"go-timeout":         "1 package failed (panic: test timed out after 300ms)",
	"go-verbose":         "1 package failed",
	"go-vet":             "vet: price/price.go:1:47: cannot use s (variable of type string) as int value in return statement",
	"jest-broken":        "1 test failed, 2 passed",
	"jest-fail":          "1 test failed, 2 passed",
	"jest-none":          "No tests found, exiting with code 1",
	"jest-pass":          "1 test passed",
	"make-done":          "make: 'sub' is up to date.",
	"make-fail":          "prog.c:1:25: error: ‘missing’ undeclared (first use in this function)",
	"make-keep-going":    "prog.c:1:25: error: ‘missing’ undeclared (first use in this function)",
	"make-killed":        "make: *** [Makefile:11: killed] Killed",
	"make-none":          "make: *** No rule to make target 'nothing'.  Stop.",
	"make-pass":          "built",
	"pytest-collect":     "1 error: ModuleNotFoundError: No module named 'nothing_there'",
	"pytest-colour":      "2 tests failed, 2 passed, 1 error",
	"pytest-fail":        "2 tests failed, 4 passed, 1 error",
	"pytest-missing":     "ERROR: file or directory not found: nothing.py",
	"pytest-none":        "no tests were run",
	"pytest-pass":        "2 tests passed",
	"pytest-quiet":       "2 tests passed",
	"pytest-stop":        "1 test failed, 1 passed",
	"tsc-fail":           "3 errors, the first: ts/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.",
	"tsc-pass":           "no output",
	"tsc-pretty":         "3 errors, the first: ts/a.ts:1:7 - error TS2322: Type 'string' is not assignable to type 'number'.",
	"vitest-broken":      "1 test failed, 2 passed",
	"vitest-fail":        "1 test failed, 2 passed",
	"vitest-none":        "No test files found, exiting with code 1",
	"vitest-pass":        "1 test passed",
}

var recording = regexp.MustCompile(`(?s)^\S.*\nexit code (\d+)\n-- stdout --\n(.*)-- stderr --\n(.*)$`)

func TestRecordings(t *testing.T) {
	files, err := filepath.Glob("testdata/recorded/*.txt")
	require.NoError(t, err)
	require.Len(t, files, len(recordings))
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			parts := recording.FindStringSubmatch(string(text))
			require.NotNil(t, parts)
			code, err := strconv.Atoi(parts[1])
			require.NoError(t, err)
			for _, step := range []int{7, 1 << 20} {
				var s Scanner
				for stream, text := range parts[2:] {
					for ; text != ""; text = text[min(step, len(text)):] {
						s.Write(stream, []byte(text[:min(step, len(text))]))
					}
				}
				require.Equal(t, recordings[name], s.Line(code, ""))
			}
		})
	}
}

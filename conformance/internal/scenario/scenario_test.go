package scenario

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/structpb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const whole = `
config {
  root  = workdir
  limit = 3
  names = ["a", "b"]
}
environment = { TOKEN = "t0ken" }
setup       = [["git", "init"]]
file "bin/run" {
  content = "#!/bin/sh\n"
  mode    = "0755"
}
file "a.txt" { content = repeat("ab", 2) }
call "read" "a file" {
  arguments = { path = "${workdir}/a.txt", lines = [1, 2.5], deep = { yes = true, none = null } }
  payload   = { size = 4 }
  directory = "bin"
  preview   = true
  render    = true
  parallel  = true
}
call "read" "nothing" { expect = "not_found" }
call "run" "cancelled" { cancel_after = "200ms" }
call "run" "cancelled at its first output" { cancel_after = "output" }
waive "handshake.mtls" { reason = "the library cannot" }
`

func parse(t *testing.T, text string) *Scenario {
	t.Helper()
	s, err := Parse([]byte(text), "s.hcl")
	require.NoError(t, err)
	return s
}

func TestScenario(t *testing.T) {
	s := parse(t, whole)
	require.Equal(t, map[string]string{"handshake.mtls": "the library cannot"}, s.Waivers())
	require.Equal(t, []string{"read", "run"}, s.Operations())

	in, err := s.In("/somewhere")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"root": "/somewhere", "limit": 3.0, "names": []any{"a", "b"}}, in.Config.AsMap())
	require.Equal(t, map[string]string{"TOKEN": "t0ken"}, in.Environment)
	require.Equal(t, [][]string{{"git", "init"}}, in.Setup)
	require.Equal(t, []File{{"bin/run", "#!/bin/sh\n", 0o755}, {"a.txt", "abab", 0o644}}, in.Files)
	require.Len(t, in.Calls, 4)

	read := in.Calls[0]
	require.Equal(t, map[string]any{"path": "/somewhere/a.txt", "lines": []any{1.0, 2.5}, "deep": map[string]any{"yes": true, "none": nil}}, read.Arguments.AsMap())
	require.Equal(t, map[string]any{"size": 4.0}, read.Payload.AsMap())
	require.Equal(t, "result", read.Expect)
	require.Equal(t, "bin", read.Directory)
	require.True(t, read.Preview && read.Render && read.Parallel)
	require.Nil(t, read.Cancel)

	require.Equal(t, "not_found", in.Calls[1].Expect)
	require.Empty(t, in.Calls[1].Arguments.GetFields())
	require.Equal(t, &Cancel{After: 200 * time.Millisecond}, in.Calls[2].Cancel)
	require.Equal(t, &Cancel{Event: "output"}, in.Calls[3].Cancel)
}

func TestArgumentsFromEarlierResults(t *testing.T) {
	s := parse(t, `
call "start" "it" {}
call "stop" "it again" {
  arguments = { id = results["it"].id, twice = results.it.count * 2 }
}`)
	in, err := s.In("/somewhere")
	require.NoError(t, err)
	require.False(t, in.Calls[0].Late())
	require.True(t, in.Calls[1].Late())

	payload, err := structpb.NewStruct(map[string]any{"id": "x1", "count": 2})
	require.NoError(t, err)
	resolved, err := in.Calls[1].Resolve(map[string]*structpb.Struct{"it": payload})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"id": "x1", "twice": 4.0}, resolved.Arguments.AsMap())

	_, err = in.Calls[1].Resolve(nil)
	require.ErrorContains(t, err, "s.hcl:4")
}

func TestMistakes(t *testing.T) {
	tests := []struct{ name, text, problem string }{
		{"a file twice", "file \"a\" { content = \"\" }\nfile \"./a\" { content = \"\" }", "is there twice"},
		{"a file that no system takes", `file "a\u0000" { content = "" }`, "not a path inside"},
		{"a call twice", "call \"read\" \"a\" {}\ncall \"read\" \"a\" {}", "give one another name"},
		{"a waiver twice", "waive \"a.b\" { reason = \"x\" }\nwaive \"a.b\" { reason = \"y\" }", "waived twice"},
		{"a variable that no system takes", `environment = { "A=B" = "x" }`, "no variable"},
		{"a value that no system takes", `environment = { A = "x\u0000" }`, "no variable"},
		{"output that is no text", `call "read" "a" { stdout = ["x"] }`, "stdout must be a string"},
		{"no HCL", `call "a" {`, "s.hcl:1"},
		{"an unknown block", `cal "a" "b" {}`, "Unsupported block type"},
		{"an unknown attribute", `call "a" "b" { until = 3 }`, "s.hcl:1,16-21: Unsupported argument"},
		{"a call without a name", `call "a" {}`, "s.hcl:1"},
		{"an unknown end", `call "a" "b" { expect = "success" }`, `expect is "success"; a call ends with one of result, invalid_arguments`},
		{"a crash is not expected", `call "a" "b" { expect = "process_crashed" }`, "a call ends with one of"},
		{"no object", `call "a" "b" { arguments = [1] }`, "arguments is tuple; write an object"},
		{"an unknown variable", `call "a" "b" { arguments = { p = home } }`, "s.hcl:1"},
		{"an unknown function", `config { a = shell("rm") }`, "s.hcl:1"},
		{"a variable that is not set", `config { a = env("CONFORMANCE_NOT_SET") }`, "CONFORMANCE_NOT_SET is not set"},
		{"a strange moment", `call "a" "b" { cancel_after = "later" }`, `cancel_after is "later"; it may be "start"`},
		{"a time before now", `call "a" "b" { cancel_after = "-1s" }`, "cancel_after"},
		{"cancelled and ended", "call \"a\" \"b\" {\n cancel_after = \"start\"\n expect = \"result\"\n}", "it ends cancelled"},
		{"cancelled with results", "call \"a\" \"b\" {\n cancel_after = \"start\"\n arguments = { a = results.x }\n}", "refer to results"},
		{"a payload of an error", "call \"a\" \"b\" {\n expect = \"not_found\"\n payload = { a = 1 }\n}", "only a result has one"},
		{"a file outside", `file "../a" { content = "" }`, "is not a path inside"},
		{"an absolute file", `file "/a" { content = "" }`, "is not a path inside"},
		{"a directory outside", `call "a" "b" { directory = ".." }`, "is not a path inside"},
		{"a strange mode", "file \"a\" {\n content = \"\"\n mode = \"rwx\"\n}", "write permissions in octal"},
		{"a mode with more", "file \"a\" {\n content = \"\"\n mode = \"4755\"\n}", "write permissions in octal"},
		{"no content", `file "a" {}`, "content"},
		{"an empty command", `setup = [[]]`, "a command of setup is empty"},
		{"commands as text", `setup = ["git init"]`, "setup must be a"},
		{"an environment of numbers is text", `environment = [1]`, "environment must be a"},
		{"a waiver without a reason", `waive "a.b" { reason = " " }`, "gives no reason"},
		{"too much", `file "a" { content = repeat("ab", 100000000) }`, "times must be"},
		{"a part of a time", `file "a" { content = repeat("ab", 1.5) }`, "times must be"},
		{"a number of a million digits", `config { a = 1e1000000000 }`, "is too large"},
		{"one as text", `config { a = "1e1000000" + 0 }`, "too large or too small"},
		{"next to nothing", `config { a = "1e-1000000" + 0 }`, "too large or too small"},
		{"several at once", "call \"a\" \"b\" { expect = \"x\" }\nfile \"/a\" { content = \"\" }", "is not a path inside"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse([]byte(test.text), "s.hcl")
			require.ErrorContains(t, err, test.problem)
		})
	}
}

func TestConfigFromAFileOfItsOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.hcl")
	require.NoError(t, os.WriteFile(path, []byte("root = \"${workdir}/below\"\n"), 0o644))
	s := parse(t, `config { limit = 3 }`)
	require.NoError(t, s.ReadConfig(path))
	in, err := s.In("/somewhere")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"root": "/somewhere/below"}, in.Config.AsMap())

	require.NoError(t, os.WriteFile(path, []byte("root {}\n"), 0o644))
	require.ErrorContains(t, s.ReadConfig(path), "config.hcl:1")
	require.ErrorContains(t, s.ReadConfig(path+"x"), "read the configuration")
}

func TestAnEmptyScenarioIsOne(t *testing.T) {
	for _, s := range []*Scenario{Empty(), parse(t, "")} {
		in, err := s.In("/somewhere")
		require.NoError(t, err)
		require.Equal(t, &Situation{}, in)
		require.Empty(t, s.Waivers())
	}
}

// Whatever a file holds, it is a scenario that can be evaluated or an error, and the same twice.
func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add(`call "a" "b" { arguments = { a = results["x"].y } }`)
	f.Add(`setup = [[null]]`)
	f.Add(`environment = { A = null }`)
	f.Add(`config { a = [for x in [1, 2] : x / 0] }`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse([]byte(text), "s.hcl")
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		first, err := s.In("/workdir")
		require.NoError(t, err, "what was parsed can be evaluated")
		for _, c := range first.Calls {
			require.NotNil(t, c.Arguments)
			require.Contains(t, expectations, c.Expect)
		}
		for _, file := range first.Files {
			require.True(t, filepath.IsLocal(file.Path))
		}
	})
}

// What is no regular file may never end.
func TestReadOfWhatIsNoFile(t *testing.T) {
	for _, path := range []string{t.TempDir(), os.DevNull} {
		_, err := Read(path)
		require.ErrorContains(t, err, "no regular file")
	}
}

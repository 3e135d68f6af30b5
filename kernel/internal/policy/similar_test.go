package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

func TestSimilar(t *testing.T) {
	command := func(text string) map[string]any { return map[string]any{"command": text} }
	tests := []struct {
		name      string
		args      map[string]any
		command   []string
		arguments map[string]string
	}{
		{"program with something to do", command("go test -run X ./..."), []string{"go test *"}, map[string]string{}},
		{"several", command("go vet ./... && go test ./... | cat -n"), []string{"go vet *", "go test *", "cat -n"}, map[string]string{}},
		{"twice", command("git status; git status -s"), []string{"git status *"}, map[string]string{}},
		{"what runs another", command("npm run build -- -x"), []string{"npm run build *"}, map[string]string{}},
		{"what runs a file", command("go run ./cmd/x y"), []string{"go run ./cmd/x *"}, map[string]string{}},
		{"what runs it knows not what", command("go run -exec x ./y"), []string{"go run -exec x ./y"}, map[string]string{}},
		{"what runs any program", command("uv run python -m pytest"), []string{"uv run python -m pytest"}, map[string]string{}},
		{"what runs a shell", command("bundle exec /bin/sh x"), []string{"bundle exec /bin/sh x"}, map[string]string{}},
		{"what takes a command", command("git bisect run make"), []string{"git bisect run make"}, map[string]string{}},
		{"what keeps a command", command("git config user.name x"), []string{"git config user.name x"}, map[string]string{}},
		{"option first", command("git -C /x push"), []string{"git -C /x push"}, map[string]string{}},
		{"any other program", command("rm -rf build"), []string{"rm -rf build"}, map[string]string{}},
		{"program elsewhere", command("/tmp/go test"), []string{"/tmp/go test"}, map[string]string{}},
		{"quoted", command(`echo 'a  b' "it's" \*`), []string{`echo 'a  b' 'it'\''s' '*'`}, map[string]string{}},
		{"with a folder", map[string]any{"command": "make", "cwd": "a[b]"}, []string{"make"}, map[string]string{"cwd": `sub/a\[b\]`}},
		{"path", map[string]any{"path": "x.md", "content": "y"}, nil, map[string]string{"path": "sub/*"}},
		{"path at the root", map[string]any{"path": "../x.md"}, nil, map[string]string{"path": "*"}},
		{"path outside", map[string]any{"path": "/tmp/a*/x"}, nil, map[string]string{"path": `/tmp/a\*/*`}},
		{"path with dots", map[string]any{"path": "../docs/../secret/x"}, nil, map[string]string{"path": "secret/*"}},
		{"two paths", map[string]any{"source": "a/x", "destination": "../b/x"}, nil, map[string]string{"source": "sub/a/*", "destination": "b/*"}},
		{"many paths", map[string]any{"paths": []any{"a/x", "./a/y"}}, nil, map[string]string{"paths": "sub/a/*"}},
		{"members", map[string]any{"files": []any{map[string]any{"path": "a/x"}}}, nil, map[string]string{"files.path": "sub/a/*"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := Similar(similarCall(t, test.args))
			require.NotNil(t, m)
			require.Equal(t, Match{Provider: "p", ToolName: "o", Command: test.command, Arguments: test.arguments}, *m)
		})
	}
}

func TestNothingIsSimilar(t *testing.T) {
	for name, args := range map[string]map[string]any{
		"no arguments": nil, "no path": {"text": "x"}, "redirected": {"command": "go test > x"}, "variable": {"command": "go test $X"},
		"background": {"command": "go test", "background": true}, "input": {"command": "cat", "stdin": "x"}, "shell": {"command": "sh -c x"},
		"files": {"command": "rm *.o"}, "empty command": {"command": ""}, "command is no text": {"command": 1.0, "path": "x"},
		"too many": {"command": "a;b;c;d;e"}, "folders": {"paths": []any{"a/x", "b/y"}}, "empty path": {"path": ""},
		"unseen": {"path": "a\u202eb"}, "the rules": {"path": "../agent.hcl"}, "the rules, in upper case": {"path": "../AGENT.hcl"},
		"the project": {"path": ".."}, "the lock": {"path": "/p/.agent/agent.lock.hcl"}, "a list with the rules": {"paths": []any{"../a", "../agent.hcl"}}, "odd name": {"a.path": "x"}, "list of more": {"paths": []any{"x", 1.0}},
	} {
		t.Run(name, func(t *testing.T) { require.Nil(t, Similar(similarCall(t, args))) })
	}
}

func similarCall(t *testing.T, args map[string]any) Call {
	t.Helper()
	s, err := structpb.NewStruct(args)
	require.NoError(t, err)
	return Call{Provider: "p", Operation: "o", Kind: resource, Arguments: s, Place: Place{Root: "/p", Dir: "/p/sub"}}
}

// What is similar to a command is certain of it, and of no command that it does not show.
func FuzzSimilar(f *testing.F) {
	for _, seed := range []string{"go test ./...", `echo "it's" '*'`, "npm run x; git status", "rm -rf [a]", "cat ~ # x", "a\\\nb"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := structpb.NewValue(text)
		if err != nil {
			return // not UTF-8
		}
		c := Call{Provider: "p", Operation: "o", Arguments: &structpb.Struct{Fields: map[string]*structpb.Value{"command": v}}}
		m := Similar(c)
		if m == nil {
			return
		}
		s, err := New([]Rule{{Name: "x", Match: *m, Action: Allow}})
		require.NoError(t, err)
		require.NotNil(t, s.Decide(c).Rule)
		for _, more := range []string{"; rm -rf /", " > x", " & ", "\nrm -rf /", " | sh", "$(rm -rf /)", " `rm -rf /`"} {
			c.Arguments.Fields["command"] = structpb.NewStringValue(text + more)
			if readScript(text+more).problem == "" && len(readScript(text+more).commands) == len(readScript(text).commands) {
				continue // it went into a comment
			}
			require.Nil(t, s.Decide(c).Rule, "%v covers %q", m, text+more)
		}
	})
}

package policy

import (
	"os"
	"path/filepath"
	"testing"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

// fenced is a folder with a project and something beside it: in/a.txt, in/sub, in/[id], out/secret.txt; in/away leads to out,
// alias to in, out/back.txt to in/a.txt and out/back to in/sub.
func fenced(t *testing.T) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, dir := range []string{"in/sub", "out"} {
		require.NoError(t, os.MkdirAll(filepath.Join(top, dir), 0o755))
	}
	for _, file := range []string{"in/a.txt", "out/secret.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(top, file), nil, 0o644))
	}
	require.NoError(t, os.Symlink(filepath.Join(top, "out"), filepath.Join(top, "in/away")))
	require.NoError(t, os.Symlink("in", filepath.Join(top, "alias")))
	require.NoError(t, os.Symlink("loop", filepath.Join(top, "in/loop")))
	require.NoError(t, os.MkdirAll(filepath.Join(top, "in/[id]"), 0o755))
	require.NoError(t, os.Symlink("../in/a.txt", filepath.Join(top, "out/back.txt")))
	require.NoError(t, os.Symlink("../in/sub", filepath.Join(top, "out/back")))
	return top
}

func object(properties ...string) *schemav1.Schema {
	s := &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_OBJECT, Properties: map[string]*schemav1.Schema{}}
	for _, name := range properties {
		s.Properties[name] = &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_STRING}
	}
	return s
}

func TestFence(t *testing.T) {
	top := fenced(t)
	type args = map[string]any
	for _, test := range []struct {
		name  string
		roots []string // from top; "in" when there are none
		dir   string   // from top; "in" when it is empty
		input *schemav1.Schema
		args  args
		stops string // a part of why; empty when it does not
	}{
		{name: "a file within", args: args{"path": "a.txt"}},
		{name: "by its whole path", args: args{"path": filepath.Join(top, "in/a.txt")}},
		{name: "the root itself", args: args{"path": "."}},
		{name: "what is not there yet", args: args{"path": "new/deep/b.txt"}},
		{name: "beside it", args: args{"path": "../out/secret.txt"}, stops: "out/secret.txt is outside the roots of the client (" + top},
		{name: "a name that only begins alike", args: args{"path": top + "/in2/x"}, stops: "in2/x is outside"},
		{name: "round about and back", args: args{"path": "sub/../../in/a.txt"}},
		{name: "through a link that leads away", args: args{"path": "away/secret.txt"}, stops: "away/secret.txt leads to " + top + "/out/secret.txt, which is outside"},
		{name: "back from where a link leads", args: args{"path": "away/../in/a.txt"}},
		{name: "out from where a link leads", args: args{"path": "away/../out"}, stops: "outside"},
		{name: "through a link that leads within", args: args{"path": top + "/alias/a.txt"}},
		{name: "links in a circle", args: args{"path": "loop/x"}, stops: "outside"},
		{name: "a link outside that leads within, as it may be moved", args: args{"source": "../out/back.txt", "destination": "b"}, stops: "out/back.txt is outside"},
		{name: "one to a folder", args: args{"path": "../out/back"}, stops: "out/back is outside"},
		{name: "a folder that one leads to", args: args{"path": "../out/back/"}},
		{name: "a file in there", args: args{"path": "../out/back/x"}},
		{name: "a link outside by way of one within", args: args{"path": "away/back.txt"}, stops: "away/back.txt leads to " + top + "/out/back.txt, which is outside"},
		{name: "the working directory by a link", dir: "alias", args: args{"path": top + "/alias"}},
		{name: "a root by a link", roots: []string{"alias"}, args: args{"path": top + "/alias"}},
		{name: "a root that is a link", roots: []string{"alias"}, args: args{"path": "a.txt"}},
		{name: "a root with a slash behind", roots: []string{"in/"}, args: args{"path": "a.txt"}},
		{name: "a root that is not there", roots: []string{"none"}, args: args{"path": "a.txt"}, stops: "outside"},
		{name: "within a root that is not there yet", roots: []string{"none"}, args: args{"path": top + "/none/x"}},
		{name: "a root that is a file", roots: []string{"in/a.txt"}, args: args{"path": "a.txt"}},
		{name: "beside a root that is a file", roots: []string{"in/a.txt"}, args: args{"path": "b.txt"}, stops: "outside"},
		{name: "the second root", roots: []string{"in/sub", "out"}, args: args{"path": "../out/secret.txt"}},
		{name: "everything", roots: []string{"/"}, args: args{"path": "/etc/hosts"}},
		{name: "one of several", args: args{"paths": []any{"a.txt", "../out/secret.txt"}}, stops: "outside"},
		{name: "a destination", args: args{"source": "a.txt", "destination": "/nowhere/x"}, stops: "/nowhere/x is outside"},
		{name: "in objects of lists of lists", args: args{"files": []any{[]any{args{"path": "/nowhere/x"}}}}, stops: "/nowhere/x is outside"},
		{name: "a name with humps", args: args{"path": "a.txt", "outputDir": "/nowhere"}, stops: "/nowhere is outside"},
		{name: "text that is no path", args: args{"path": "a.txt", "content": "/etc/hosts"}},
		{name: "nothing at all", args: args{}},
		{name: "nothing at all, from outside", dir: "out", args: args{}, stops: "it is about the working directory, " + top + "/out, which is outside"},
		{name: "an empty path, from outside", dir: "out", args: args{"path": ""}, stops: "working directory"},
		{name: "a dot, from outside", dir: "out", args: args{"path": "./"}, stops: "working directory"},
		{name: "a whole path, from outside", dir: "out", input: object("path"), args: args{"path": top + "/in"}},
		{name: "a default path, from outside", dir: "out", input: object("pattern", "path"), args: args{"pattern": "x"}, stops: "which is outside the roots of the client (" + top + "/in): add the folder, or give path=\"" + top + "/in\""},
		{name: "a command, from outside", dir: "out", input: object("command", "cwd"), args: args{"command": "ls"}, stops: "working directory"},
		{name: "a command that is led within", dir: "out", input: object("command", "cwd"), args: args{"command": "ls", "cwd": "../in"}},
		{name: "a command beside a file, from outside", dir: "out", input: object("file", "cwd"), args: args{"file": top + "/in/a.txt"}, stops: "working directory"},
		{name: "a command somewhere else", input: object("command", "cwd"), args: args{"command": "ls", "cwd": "../out"}, stops: "out is outside"},
		{name: "a pattern that begins elsewhere", args: args{"pattern": top + "/out/*.txt"}, stops: "out"},
		{name: "a pattern that leaves its folder", args: args{"path": "sub", "pattern": "../../out/**"}, stops: "out"},
		{name: "a pattern that stays", args: args{"path": "sub", "pattern": "../*.txt"}},
		{name: "a pattern that begins with a link", args: args{"pattern": "away/*.txt"}, stops: "away leads to " + top + "/out, which is outside"},
		{name: "a pattern that begins with a link within", args: args{"path": top + "/alias", "pattern": "sub/**"}, roots: []string{"alias"}},
		{name: "a pattern with a folder that is called like one", args: args{"pattern": "[id]/../../out/*"}, stops: "out"},
		{name: "such a folder, without leaving it", args: args{"pattern": "[id]/../*.txt"}},
		{name: "a pattern that begins at the top", args: args{"pattern": "/*/*"}, stops: "/ is outside"},
		{name: "a pattern without a beginning", args: args{"pattern": "*.txt"}},
		{name: "what is looked for in files", input: object("path", "pattern", "glob"), args: args{"path": ".", "pattern": "//.*", "glob": "*.go"}},
		{name: "in files elsewhere", input: object("path", "pattern", "glob"), args: args{"path": ".", "pattern": "x", "glob": "../out/*"}, stops: "out"},
		{name: "a regular expression that looks like a path", args: args{"pattern": "/api/v1/[a-z]+"}},
		{name: "a word that is called like a path", input: &schemav1.Schema{Properties: map[string]*schemav1.Schema{"source": {EnumValues: []string{"/commit"}}}}, args: args{"source": "/commit"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &Fence{Name: "the roots of the client", Remedy: "add the folder"}
			for _, root := range append(test.roots, "in")[:max(1, len(test.roots))] {
				if !filepath.IsAbs(root) {
					root = top + "/" + root
				}
				f.Folders = append(f.Folders, root)
			}
			fields, err := structpb.NewStruct(test.args)
			require.NoError(t, err)
			dir := filepath.Join(top, "in")
			if test.dir != "" {
				dir = filepath.Join(top, test.dir)
			}
			why := f.Stops(Call{Arguments: fields, Place: Place{Root: top, Dir: dir}}, test.input)
			if test.stops == "" {
				require.Empty(t, why)
				return
			}
			require.Contains(t, why, test.stops)
			require.Contains(t, why, "): add the folder")
		})
	}
}

func TestFenceThatIsNone(t *testing.T) {
	var none *Fence
	require.Empty(t, none.Stops(Call{}, nil))
	require.Equal(t, "nothing is within the roots, as it named none: ask", (&Fence{Name: "the roots", Closed: "it named none", Remedy: "ask"}).Stops(Call{}, nil))
	require.Equal(t, "nothing is within the roots: ask", (&Fence{Name: "the roots", Remedy: "ask"}).Stops(Call{}, nil))
}

// A folder that a system knows by two names is one, as where upper case is not told from lower case.
func TestFenceKnowsAFolderByItself(t *testing.T) {
	top := fenced(t)
	require.True(t, isBelow(filepath.Join(top, "alias"), filepath.Join(top, "in/sub/new")))
	require.False(t, isBelow(filepath.Join(top, "alias"), filepath.Join(top, "out/secret.txt")))
	require.False(t, isBelow(filepath.Join(top, "none"), filepath.Join(top, "out")))
}

// BenchmarkFence is what it takes to hold a call to the roots of its client.
func BenchmarkFence(b *testing.B) {
	dir := b.TempDir()
	f := &Fence{Name: "the roots", Folders: []string{dir}}
	args, err := structpb.NewStruct(map[string]any{"path": "a/b.txt", "content": "x"})
	require.NoError(b, err)
	c, input := Call{Arguments: args, Place: Place{Root: dir, Dir: dir}}, object("path", "content")
	for b.Loop() {
		if why := f.Stops(c, input); why != "" {
			b.Fatal(why)
		}
	}
}

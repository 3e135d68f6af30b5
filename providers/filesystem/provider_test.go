package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protojson"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/providers/filesystem/internal/atomicfile"
	"github.com/agentco/agent/providers/filesystem/internal/buffer"
	"github.com/agentco/agent/sdk/jail"
	"github.com/agentco/agent/sdk/sdktest"
)

var update = flag.Bool("update", false, "write the golden files")

// beProvider makes the test binary the provider.
const beProvider = "AGENT_TEST_BE_PROVIDER"

func TestMain(m *testing.M) {
	if os.Getenv(beProvider) != "" {
		main()
		return
	}
	buffer.Poison = true
	cache, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	// The journal must not go to the cache of whoever runs the tests.
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		if err := os.Setenv(name, cache); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := os.RemoveAll(cache); err != nil {
			panic(err)
		}
		os.Exit(code)
	}))
}

// world is a running provider whose only root is base/root.
type world struct {
	*sdktest.Harness
	t          *testing.T
	base, root string
}

func newWorld(t *testing.T, more map[string]any) world {
	t.Helper()
	return newWorldIn(t, t.TempDir(), more)
}

// newWorldIn is a world below base.
func newWorldIn(t *testing.T, base string, more map[string]any) world {
	t.Helper()
	base, err := filepath.EvalSymlinks(base)
	require.NoError(t, err)
	w := world{t: t, base: base, root: filepath.Join(base, "root")}
	require.NoError(t, os.Mkdir(w.root, 0o755))
	config := map[string]any{"allowed_roots": []any{w.root}}
	for key, value := range more {
		config[key] = value
	}
	w.Harness = sdktest.Start(t, provider(), config)
	w.Dir = w.root
	return w
}

// put makes a file below base.
func (w world) put(name, content string) {
	w.t.Helper()
	name = filepath.Join(w.base, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(w.t, os.WriteFile(name, []byte(content), 0o644))
}

func (w world) link(target, name string) {
	w.t.Helper()
	require.NoError(w.t, os.Symlink(target, filepath.Join(w.base, name)))
}

func (w world) bytes(name string) string {
	w.t.Helper()
	body, err := os.ReadFile(filepath.Join(w.base, name))
	require.NoError(w.t, err)
	return string(body)
}

type args = map[string]any

// must calls and wants a result.
func (w world) must(operation string, a args) map[string]any {
	w.t.Helper()
	got := w.Call(w.t.Context(), operation, a)
	require.Nil(w.t, got.Err, "%v", got.Err)
	require.NotNil(w.t, got.Result)
	return got.Result
}

// refused calls, wants an error of a category, and that nothing below base has
// changed for it.
func (w world) refused(operation string, a args, category toolv1.ToolErrorCategory) *toolv1.ToolError {
	w.t.Helper()
	before := w.tree()
	got := w.Call(w.t.Context(), operation, a)
	require.Nil(w.t, got.Result)
	require.NotNil(w.t, got.Err)
	require.Equal(w.t, category.String(), got.Err.GetCategory().String(), got.Err.GetMessage())
	require.Equal(w.t, before, w.tree(), "an error leaves everything as it was")
	return got.Err
}

// tree is everything below base: mode, time and content.
func (w world) tree() map[string]string {
	w.t.Helper()
	found := map[string]string{}
	require.NoError(w.t, filepath.Walk(w.base, func(name string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		found[name] = info.Mode().String()
		if info.Mode().IsRegular() && info.Size() < 1<<20 {
			body, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			found[name] += info.ModTime().String() + " " + string(body)
		}
		return nil
	}))
	return found
}

func (w world) mode(name string) os.FileMode {
	w.t.Helper()
	info, err := os.Lstat(filepath.Join(w.base, name))
	require.NoError(w.t, err)
	return info.Mode()
}

// contents is everything below base without times: what an undo brings back.
func (w world) contents() map[string]string {
	w.t.Helper()
	found := map[string]string{}
	require.NoError(w.t, filepath.Walk(w.base, func(name string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		found[name] = info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			body, err := os.ReadFile(name)
			found[name] += string(body)
			return err
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(name)
			found[name] += target
			return err
		}
		return nil
	}))
	return found
}

func (w world) noTemporaryFiles() {
	w.t.Helper()
	require.NoError(w.t, filepath.Walk(w.base, func(name string, _ os.FileInfo, err error) error {
		require.False(w.t, atomicfile.IsTemp(name), name)
		return err
	}))
}

const (
	invalid   = toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS
	notFound  = toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND
	denied    = toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED
	failed    = toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED
	conflicts = toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CONCURRENCY_CONFLICT
)

// The table of operations in the README is made of the schema.
func TestReadmeNamesEveryOperation(t *testing.T) {
	const begin, end = "<!-- operations: the test with -update writes them -->\n", "<!-- end of operations -->\n"
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(readme), begin)
	require.True(t, ok)
	_, tail, ok := strings.Cut(rest, end)
	require.True(t, ok)
	table := "| operation | kind, risk | arguments | what it does |\n|---|---|---|---|\n"
	for _, tool := range newWorld(t, nil).Tools(t.Context()) {
		table += operationRow(tool)
	}
	want := head + begin + table + end + tail
	if *update {
		require.NoError(t, os.WriteFile("README.md", []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(readme), "run the test with -update")
}

// operationRow is an operation as the README shows it: of its description the
// first sentence.
func operationRow(tool *toolv1.ToolSchema) string {
	word := func(enum fmt.Stringer, prefix string) string {
		return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(enum.String(), prefix)), "_", "-")
	}
	does, _, _ := strings.Cut(tool.GetDescription(), "\n")
	var arguments []string // the required ones first
	for _, name := range slices.Sorted(maps.Keys(tool.GetInputSchema().GetProperties())) {
		if slices.Contains(tool.GetInputSchema().GetRequired(), name) {
			arguments = slices.Insert(arguments, 0, "**"+name+"**")
		} else {
			arguments = append(arguments, name)
		}
	}
	return fmt.Sprintf("| `%s` | %s, %s | %s | %s |\n", tool.GetName(), word(tool.GetKind(), "TOOL_KIND_"),
		word(tool.GetRisk(), "RISK_CLASS_"), strings.Join(arguments, " "), does)
}

// What models and kernels are told is part of the product: a change of it shows.
func TestSchemaGolden(t *testing.T) {
	w := newWorld(t, nil)
	for _, tool := range w.Tools(t.Context()) {
		t.Run(tool.GetName(), func(t *testing.T) {
			raw, err := protojson.Marshal(tool)
			require.NoError(t, err)
			var v any // protojson changes its spacing at will
			require.NoError(t, json.Unmarshal(raw, &v))
			got, err := json.MarshalIndent(v, "", "  ")
			require.NoError(t, err)
			golden := filepath.Join("testdata", tool.GetName()+".json")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(golden, append(got, '\n'), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got)+"\n", "run the test with -update if this is meant")
		})
	}
}

func TestDefaultDenyIsTheJails(t *testing.T) {
	w := newWorld(t, nil)
	for _, name := range jail.DefaultDeny {
		name = strings.ReplaceAll(name, "*", "x")
		if strings.HasPrefix(name, "!") {
			w.put("root/"+name[1:], "")
			w.must("read_file", args{"path": name[1:]})
			continue
		}
		w.put("root/"+name, "SECRET")
		e := w.refused("read_file", args{"path": name}, denied)
		require.Contains(t, e.GetMessage(), "deny list")
	}
}

func TestConfigureRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	for _, tt := range []struct {
		name   string
		config map[string]any
		field  string
		says   string
	}{
		{"no roots", args{}, "allowed_roots", ""},
		{"empty roots", args{"allowed_roots": []any{}}, "allowed_roots", "at least one"},
		{"nameless root", args{"allowed_roots": []any{dir, ""}}, "allowed_roots", "empty"},
		{"missing root", args{"allowed_roots": []any{dir + "/none"}}, "allowed_roots", "no such file"},
		{"root is a file", args{"allowed_roots": []any{file}}, "allowed_roots", "not a directory"},
		{"read-only root is a file", args{"allowed_roots": []any{dir}, "read_only_roots": []any{file}}, "read_only_roots", "not a directory"},
		{"bad pattern", args{"allowed_roots": []any{dir}, "deny": []any{"[a"}}, "deny", "malformed"},
		{"no room", args{"allowed_roots": []any{dir}, "max_result_bytes": 1}, "max_result_bytes", "not between"},
		{"unknown attribute", args{"allowed_roots": []any{dir}, "follow_links": true}, "follow_links", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := sdktest.Configure(t, provider(), tt.config)
			require.Error(t, err)
			e := sdktest.ToolError(err)
			require.Equal(t, invalid, e.GetCategory())
			require.Contains(t, e.GetMessage(), tt.field)
			require.Contains(t, e.GetMessage(), tt.says)
		})
	}
}

func TestRelativeRoot(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("project", 0o755))
	require.NoError(t, os.WriteFile("project/f", []byte("hi\n"), 0o644))
	h := sdktest.Start(t, provider(), args{"allowed_roots": []any{"project"}})
	got := h.CallIn(t.Context(), "/", "read_file", args{"path": "f"})
	require.Equal(t, "hi\n", got.Result["content"])
}

// FO-07
func TestRootThroughLink(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(base+"/root", 0o755))
	require.NoError(t, os.WriteFile(base+"/root/f", []byte("hi\n"), 0o644))
	require.NoError(t, os.Symlink("root", base+"/alias"))
	h := sdktest.Start(t, provider(), args{"allowed_roots": []any{base + "/alias"}})
	for _, path := range []string{base + "/alias/f", base + "/root/f"} {
		got := h.Call(t.Context(), "read_file", args{"path": path})
		require.Equal(t, "hi\n", got.Result["content"], path)
	}
}

// kinds are those of the nodes in a tree, outermost first.
func kinds(n *renderv1.RenderNode) []string {
	out := []string{nodeKind(n)}
	for _, child := range n.GetGroup().GetChildren() {
		out = append(out, kinds(child)...)
	}
	return out
}

func nodeKind(n *renderv1.RenderNode) string {
	switch n.GetNode().(type) {
	case *renderv1.RenderNode_Text:
		return "text"
	case *renderv1.RenderNode_CodeBlock:
		return "code"
	case *renderv1.RenderNode_Diff:
		return "diff"
	case *renderv1.RenderNode_Table:
		return "table"
	case *renderv1.RenderNode_Group:
		return "group"
	case *renderv1.RenderNode_List:
		return "list"
	}
	return "other"
}

func TestPreviewAndRender(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/f.go", "package a\n")
	w.must("read_file", args{"path": "f.go"})
	for _, tt := range []struct {
		operation       string
		args            args
		preview, render []string
	}{
		{"read_file", args{"path": "f.go"}, []string{"text"}, []string{"group", "text", "code", "text"}},
		{"list_directory", args{}, []string{"text"}, []string{"group", "text", "table"}},
		{"glob", args{"pattern": "*.go"}, []string{"text"}, []string{"group", "list"}},
		{"grep", args{"pattern": "package"}, []string{"text"}, []string{"group", "list"}},
		{"grep", args{"pattern": "package", "mode": "count"}, []string{"text"}, []string{"group", "table"}},
		{"grep", args{"pattern": "package", "mode": "content"}, []string{"text"}, []string{"group", "text", "code"}},
		{"edit_file", args{"path": "f.go", "old_string": "a\n", "new_string": "b\n"}, []string{"group", "text", "diff"}, []string{"group", "text", "diff"}},
		{"write_file", args{"path": "g.go", "content": "package g\n"}, []string{"group", "text", "diff"}, []string{"group", "text", "diff"}},
		{"read_many", args{"paths": []any{"f.go", "none"}}, []string{"text"}, []string{"group", "group", "text", "code", "text", "text", "text"}},
		{"stat", args{"path": "f.go"}, []string{"text"}, []string{"text"}},
		{"create_directory", args{"path": "d/e"}, []string{"text"}, []string{"text"}},
		{"create_directory", args{"path": "d"}, []string{"text"}, []string{"text"}},
		{"copy", args{"source": "g.go", "destination": "d/g.go"}, []string{"text"}, []string{"text"}},
		{"move", args{"source": "d/g.go", "destination": "h.go"}, []string{"text"}, []string{"text"}},
		{"undo", args{"path": "h.go", "destination": "d/g.go"}, []string{"text"}, []string{"text"}},
		{"apply_edits", args{"files": []any{
			args{"path": "g.go", "content": "package h\n"}, args{"path": "d/g.go", "delete": true},
		}}, []string{"group", "text", "diff", "text"}, []string{"group", "text", "diff", "text"}},
		{"undo", args{"path": "g.go"}, []string{"group", "text", "diff"}, []string{"group", "text", "diff"}},
		{"delete", args{"path": "d", "recursive": true}, []string{"text"}, []string{"text"}},
		{"delete", args{"path": "g.go"}, []string{"text"}, []string{"text"}},
	} {
		t.Run(tt.operation, func(t *testing.T) {
			before := w.tree()
			plan, err := w.Preview(t.Context(), tt.operation, tt.args)
			require.NoError(t, err)
			require.Equal(t, tt.preview, kinds(plan.GetRoot()))
			require.Equal(t, before, w.tree(), "a preview does nothing")

			shown, err := w.Render(t.Context(), w.must(tt.operation, tt.args))
			require.NoError(t, err)
			require.Equal(t, tt.render, kinds(shown.GetRoot()))
		})
	}
}

func TestPreviewRefusesLikeTheCall(t *testing.T) {
	readOnly := t.TempDir()
	w := newWorld(t, args{"read_only_roots": []any{readOnly}})
	w.put("root/f", "x\n")
	for _, tt := range []struct {
		operation string
		args      args
		want      toolv1.ToolErrorCategory
	}{
		{"read_file", args{"path": "/etc/passwd"}, denied},
		{"list_directory", args{"path": ".."}, denied},
		{"write_file", args{"path": "f", "content": "y"}, failed},
		{"edit_file", args{"path": "f", "old_string": "x", "new_string": "y"}, failed},
		{"edit_file", args{"path": "g", "old_string": "x", "new_string": "y"}, notFound},
		{"write_file", args{"path": "no/f", "content": "y", "create_parents": false}, notFound},
		{"write_file", args{"path": readOnly + "/f", "content": "y"}, denied},
	} {
		w.refused(tt.operation, tt.args, tt.want)
		_, err := w.Preview(t.Context(), tt.operation, tt.args)
		require.Equal(t, tt.want, sdktest.ToolError(err).GetCategory(), tt.operation)
	}
}

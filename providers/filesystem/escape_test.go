//go:build unix

package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

const (
	secret  = "SECRET-OF-OUTSIDE"
	sibling = "sibling-of-the-root.txt"
)

// escape is a path that leads, or seems to lead, out of the root.
type escape struct {
	name, path string
	link       bool // it is a link inside, which may be moved or deleted itself
	odd        bool // it may be taken as a name inside
}

// escapes makes a world with all ways out that we know, and returns their paths.
func (w world) escapes() []escape {
	w.put("out.txt", secret)
	w.put(sibling, secret)
	w.put("outdir/s.txt", secret)
	w.put("root-evil/s.txt", secret)
	w.put("root/dir/x", "x")
	w.put("root/mine", "mine")
	for name, target := range map[string]string{
		"leak": "../out.txt", "leak-abs": w.base + "/out.txt", "chain": "chain2", "chain2": "leak", "d": "../outdir", "d-abs": w.base + "/outdir",
		"dangling": "../nowhere", "parent": "..", "dir/grandparent": "../..", "dir/up": "..", "round": "../root/../out.txt",
		"proc": "/proc/self/root", "fd": "/proc/self/fd/0", "cwd": "/proc/self/cwd", "proc-file": "/proc/self/root" + w.base + "/out.txt", "environ": "/proc/self/environ",
	} {
		w.link(target, "root/"+name)
	}
	list := []escape{
		{name: "the root's name in front", path: w.base + "/root-evil/s.txt"}, // FO-01
		{name: "its directory", path: w.base + "/root-evil"},
		{name: "up", path: "../out.txt"},
		{name: "up to the directory", path: "../"}, // FO-04
		{name: "up through what is not there", path: "./x/../../"},
		{name: "up from a directory", path: "dir/../../out.txt"},
		{name: "up from the root's name", path: w.root + "/../out.txt"},
		{name: "up many times", path: strings.Repeat("../", 50) + strings.TrimPrefix(w.base, "/") + "/out.txt"},
		{name: "absolute", path: w.base + "/out.txt"},
		{name: "absolute with slashes", path: "//" + w.base + "///out.txt"},
		{name: "parent of the root", path: w.base},
		{name: "the top", path: "/"},
		{name: "system file", path: "/etc/passwd"},
		{name: "link", path: "leak", link: true}, // FO-02
		{name: "absolute link", path: "leak-abs", link: true},
		{name: "chain", path: "chain", link: true},
		{name: "link to a directory", path: "d", link: true},
		{name: "link to a directory with a slash", path: "d/", link: true},
		{name: "absolute link to a directory", path: "d-abs", link: true},
		{name: "file through it", path: "d/s.txt"},
		{name: "new file through it", path: "d/new.txt"}, // FO-03
		{name: "new file far below it", path: "d/new/deep.txt"},
		{name: "dangling link out", path: "dangling", link: true},
		{name: "below a dangling link", path: "dangling/new.txt"},
		{name: "link to the parent", path: "parent", link: true},
		{name: "file through it", path: "parent/out.txt"},
		{name: "link to the grandparent", path: "dir/grandparent/out.txt"},
		{name: "up from a link that climbs to the root", path: "dir/up/../out.txt"},
		{name: "link that leaves and comes back and leaves", path: "round", link: true},
		{name: "magic link", path: "proc", link: true},
		{name: "file through a magic link", path: "proc" + w.base + "/out.txt"},
		{name: "descriptor", path: "fd", link: true},
		{name: "working directory", path: "cwd/x"},
		{name: "link through a magic link", path: "proc-file", link: true},
		{name: "environment", path: "environ", link: true},
		{name: "/proc", path: "/proc/self/root" + w.base + "/out.txt"},
		{name: "/proc/self/fd", path: "/proc/self/fd/0"},
		{name: "/dev/fd", path: "/dev/fd/0"},
		{name: "NUL", path: "mine\x00/../../out.txt"},
		{name: "endless", path: strings.Repeat("x/", 3000)},
		{name: "endless up", path: strings.Repeat("x/../", 1000) + "../out.txt"},
		{name: "a long name", path: strings.Repeat("x", 300)},
	}
	for name, path := range map[string]string{
		"upper case": "../OUT.TXT", "upper case of the root": w.base + "/ROOT/mine", "full-width dots": "．．/out.txt", "two-dot leader": "‥/out.txt",
		"escaped": "%2e%2e/out.txt", "backslash": `..\out.txt`, "slash look-alike": "..∕out.txt", "composed": "e\u0301/../../out.txt", "overlong": "..\xc0\xafout.txt",
		"newline": "mine\n../out.txt", "newline up": "../out.txt\n", "space": " ../out.txt", "tilde": "~/out.txt", "variable": "$HOME/out.txt", "URL": "file://" + w.base + "/out.txt",
	} {
		list = append(list, escape{name: name, path: strings.ToValidUTF8(path, "\uFFFD"), odd: true})
	}
	return list
}

// attempt is one way to use a path in a call.
type attempt struct {
	operation string
	args      func(path string) args
	itself    bool // it is about a link itself
}

// attempts are at least one for every operation there is.
func (w world) attempts() []attempt {
	in := func(more args) func(string) args {
		return func(path string) args {
			a := args{"path": path}
			for k, v := range more {
				a[k] = v
			}
			return a
		}
	}
	file := func(more args) func(string) args {
		return func(path string) args {
			return args{"files": []any{args{"path": "fresh", "content": "x"}, in(more)(path)}}
		}
	}
	edit := args{"old_string": "SECRET", "new_string": "x", "expected_sha256": sum([]byte(secret))}
	list := []attempt{
		{operation: "read_many", args: func(p string) args { return args{"paths": []any{p, p}} }},
		{operation: "stat", args: in(nil), itself: true},
		{operation: "write_file", args: in(args{"content": "x"})},
		{operation: "edit_file", args: in(edit)},
		{operation: "apply_edits", args: file(args{"edits": []any{args{"old_string": "SECRET", "new_string": "x"}}})},
		{operation: "apply_edits", args: file(args{"content": "x"})},
		{operation: "apply_edits", args: file(args{"delete": true}), itself: true},
		{operation: "move", args: func(p string) args { return args{"source": p, "destination": "moved"} }, itself: true},
		{operation: "move", args: func(p string) args { return args{"source": "mine", "destination": p} }},
		{operation: "move", args: func(p string) args { return args{"source": "mine", "destination": p, "overwrite": true} }, itself: true},
		{operation: "copy", args: func(p string) args { return args{"source": p, "destination": "copied"} }},
		{operation: "copy", args: func(p string) args { return args{"source": "mine", "destination": p} }},
		{operation: "copy", args: func(p string) args { return args{"source": "mine", "destination": p, "overwrite": true} }},
		{operation: "create_directory", args: in(nil)},
		{operation: "delete", args: in(nil), itself: true},
		{operation: "delete", args: in(args{"recursive": true}), itself: true},
		{operation: "undo", args: in(nil)},
	}
	known := map[string]bool{}
	for _, a := range list {
		known[a.operation] = true
	}
	for _, tool := range w.Tools(w.t.Context()) {
		if !known[tool.GetName()] {
			list = append(list, attempt{operation: tool.GetName(), args: in(w.patterns(tool))})
		}
	}
	return list
}

// patterns fills the other required arguments of an operation that only reads.
func (w world) patterns(tool *toolv1.ToolSchema) args {
	require.Equal(w.t, toolv1.RiskClass_RISK_CLASS_READ_ONLY, tool.GetRisk(), "%s changes something: say how it is to be tried", tool.GetName())
	a := args{}
	for _, name := range tool.GetInputSchema().GetRequired() {
		if name != "path" {
			a[name] = map[string]any{"pattern": "*"}[name]
		}
	}
	return a
}

// Every way out is tried on every operation: what lies outside is neither shown
// nor changed.
func TestEscapes(t *testing.T) {
	first := newWorld(t, nil)
	for _, a := range first.attempts() {
		t.Run(a.operation, func(t *testing.T) {
			w := newWorld(t, args{"require_read_before_write": false})
			for _, e := range w.escapes() {
				before := w.outside()
				got, seen := w.listen(a.operation, a.args(e.path))
				require.NotContains(t, seen, secret, e.name)
				require.NotContains(t, seen, sibling, e.name)
				require.Equal(t, before, w.outside(), e.name)
				switch {
				case e.odd, a.itself && e.link:
				case a.operation == "read_many":
					require.NotContains(t, seen, `"content"`, e.name)
				default:
					require.NotNil(t, got.err, "%s of %s: %s", a.operation, e.name, seen)
					require.Contains(t, []any{denied, invalid, notFound}, got.err.GetCategory(), "%s: %s", e.name, got.err.GetMessage())
				}
				if got.err == nil && a.operation != "read_many" { // it changed something inside: begin anew
					require.NoError(t, os.RemoveAll(w.root))
					require.NoError(t, os.Mkdir(w.root, 0o755))
					w = newWorld(t, args{"require_read_before_write": false})
					w.escapes()
				}
			}
			w.noTemporaryFiles()
		})
	}
}

type heard struct{ err *toolv1.ToolError }

// listen calls, and returns every word of what comes back as well.
func (w world) listen(operation string, a args) (heard, string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	var all strings.Builder
	got := w.Watch(ctx, w.root, operation, a, func(event *toolv1.ToolEvent) {
		raw, err := protojson.Marshal(event)
		require.NoError(w.t, err)
		all.Write(raw)
	})
	if got.Err != nil {
		all.WriteString(got.Err.GetMessage())
	}
	if got.Result == nil && got.Err == nil {
		require.Fail(w.t, "neither a result nor an error")
	}
	return heard{got.Err}, all.String()
}

// outside is everything below base that is not below the root.
func (w world) outside() map[string]string {
	w.t.Helper()
	found := w.tree()
	for name := range found {
		if name == w.base || name == w.root || strings.HasPrefix(name, w.root+"/") {
			delete(found, name)
		}
	}
	return found
}

// A hard link is a file like any other, so its content can be read. What is
// written to it does not reach the name outside.
func TestHardLinkToOutside(t *testing.T) {
	for _, a := range []attempt{
		{operation: "write_file", args: func(p string) args { return args{"path": p, "content": "x"} }},
		{operation: "edit_file", args: func(p string) args { return args{"path": p, "old_string": "SECRET", "new_string": "x"} }},
		{operation: "apply_edits", args: func(p string) args { return args{"files": []any{args{"path": p, "content": "x"}}} }},
		{operation: "copy", args: func(p string) args { return args{"source": "mine", "destination": p, "overwrite": true} }},
		{operation: "move", args: func(p string) args { return args{"source": "mine", "destination": p, "overwrite": true} }},
		{operation: "delete", args: func(p string) args { return args{"path": p} }},
	} {
		t.Run(a.operation, func(t *testing.T) {
			w := newWorld(t, args{"require_read_before_write": false})
			w.put("out.txt", secret)
			w.put("root/mine", "mine")
			require.NoError(t, os.Link(w.base+"/out.txt", w.root+"/hard"))
			before := w.outside()
			w.must(a.operation, a.args("hard"))
			require.Equal(t, before, w.outside())
			back := args{"path": "hard"}
			if a.operation == "move" {
				back["destination"] = "mine"
			}
			w.must("undo", back)
			require.Equal(t, before, w.outside())
			w.noTemporaryFiles()
		})
	}
}

// special is a world with what is neither file nor directory.
func special(t *testing.T) (w world, names []string) {
	t.Helper()
	w = newWorld(t, args{"require_read_before_write": false})
	w.put("root/mine", "mine")
	require.NoError(t, syscall.Mkfifo(w.root+"/pipe", 0o666))
	require.NoError(t, os.Mkdir(w.root+"/tree", 0o755))
	require.NoError(t, syscall.Mkfifo(w.root+"/tree/pipe", 0o666))
	listener, err := net.Listen("unix", filepath.Join(w.root, "s"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	names = []string{"pipe", "s"}
	if syscall.Mknod(w.root+"/zero", syscall.S_IFCHR|0o666, 1<<8|5) == nil { // only the superuser may
		names = append(names, "zero")
	}
	return w, names
}

// Pipes, sockets and devices are opened by no operation: none of them waits.
func TestEveryOperationRefusesToOpenWhatIsNoFile(t *testing.T) {
	first, names := special(t)
	first.refused("copy", args{"source": "tree", "destination": "tree2"}, invalid)
	for _, a := range first.attempts() {
		for _, name := range names {
			w, _ := special(t)
			got, seen := w.listen(a.operation, a.args(name))
			switch a.operation {
			case "read_many":
				require.NotContains(t, seen, `"content"`)
			case "glob", "undo":
			default:
				if a.itself { // these do not open it
					continue
				}
				require.NotNil(t, got.err, "%s %s", a.operation, name)
				require.Equal(t, invalid, got.err.GetCategory(), "%s %s: %s", a.operation, name, got.err.GetMessage())
			}
		}
	}
}

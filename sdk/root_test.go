//go:build unix

package sdk_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/sdktest"
)

type rooted struct {
	Root  sdk.Root   `hcl:"root" default:"."`
	Other []sdk.Root `hcl:"other,optional"`
	None  *sdk.Root  `hcl:"none,optional"`
}

type rootIn struct {
	Path string `json:"path,omitempty"`
}

// inRoot runs act inside a call of a provider whose root is dir.
func inRoot(t *testing.T, dir string, act func(c *sdk.Call[rooted])) {
	t.Helper()
	p := sdk.New[rooted]("rooted", "For tests.")
	sdk.Tool(p, "act", "Acts.", func(_ context.Context, c *sdk.Call[rooted], _ rootIn) (doOut, error) {
		act(c)
		return doOut{}, nil
	})
	r := sdktest.Start(t, p, map[string]any{"root": dir, "other": []any{dir}}).Call(t.Context(), "act", nil)
	require.Nil(t, r.Err)
}

func TestRootReadsAndWrites(t *testing.T) {
	dir := t.TempDir()
	inRoot(t, dir, func(c *sdk.Call[rooted]) {
		root := c.Config.Root
		require.Equal(t, dir, root.Dir())
		require.Nil(t, c.Config.None)

		require.NoError(t, root.WriteFile("a.txt", []byte("one"), 0o640))
		require.NoError(t, os.Chmod(filepath.Join(dir, "a.txt"), 0o600))
		require.NoError(t, root.WriteFile("a.txt", []byte("two"), 0o644))
		info, err := root.Stat("a.txt")
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode(), "a file that is there keeps its mode")
		text, err := c.Config.Other[0].ReadFile("./a.txt")
		require.NoError(t, err)
		require.Equal(t, "two", string(text))

		f, err := root.Create("b.txt")
		require.NoError(t, err)
		_, err = f.WriteString("three")
		require.NoError(t, err)
		require.NoError(t, f.Close())
		f, err = root.Open(filepath.Join(dir, "b.txt"))
		require.NoError(t, err)
		text, err = io.ReadAll(f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.Equal(t, "three", string(text))

		entries, err := fs.ReadDir(root.IOFS(), ".")
		require.NoError(t, err)
		require.Equal(t, []string{"a.txt", "b.txt"}, []string{entries[0].Name(), entries[1].Name()}, "no drafts are left")
		exists, err := afero.Exists(root.FS(), "b.txt")
		require.NoError(t, err)
		require.True(t, exists)
	})
}

func TestWriteFileGoesThroughALinkAndNeverHalfWrites(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "real.txt"), []byte("one"), 0o600))
	require.NoError(t, os.Symlink("real.txt", filepath.Join(dir, "link.txt")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	inRoot(t, dir, func(c *sdk.Call[rooted]) {
		root := c.Config.Root
		require.NoError(t, root.WriteFile("link.txt", []byte("two"), 0o600))
		text, err := os.ReadFile(filepath.Join(dir, "real.txt"))
		require.NoError(t, err)
		require.Equal(t, "two", string(text))
		_, err = os.Readlink(filepath.Join(dir, "link.txt"))
		require.NoError(t, err)

		require.ErrorIs(t, root.WriteFile("sub", nil, 0o600), fs.ErrInvalid)
		require.ErrorIs(t, root.WriteFile("pipe", nil, 0o600), fs.ErrInvalid)
		require.ErrorIs(t, root.WriteFile("none/a.txt", nil, 0o600), fs.ErrNotExist)
		require.ErrorIs(t, root.WriteFile("../a.txt", nil, 0o600), fs.ErrPermission)
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, entries, 4)
	})
}

// TestTheDraftOfAPrivateFileIsPrivate: while it is being written, too.
func TestTheDraftOfAPrivateFileIsPrivate(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "key.pem"), []byte("one"), 0o600))
	inRoot(t, dir, func(c *sdk.Call[rooted]) {
		var seen []fs.FileMode
		for len(seen) == 0 { // a draft may come and go between two looks
			written := make(chan error, 1)
			go func() { written <- c.Config.Root.WriteFile("key.pem", make([]byte, 8<<20), 0o644) }()
			for done := false; !done; {
				drafts, err := filepath.Glob(filepath.Join(dir, ".draft-*"))
				require.NoError(t, err)
				for _, draft := range drafts {
					if info, err := os.Stat(draft); err == nil {
						seen = append(seen, info.Mode())
					}
				}
				select {
				case err := <-written:
					require.NoError(t, err)
					done = true
				default:
				}
			}
		}
		for _, mode := range seen {
			require.Equal(t, fs.FileMode(0o600), mode)
		}
	})
}

func TestErrorsOfARootNameWhatTheCallerNamed(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "logs"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), nil, 0o600))
	outside := "; name something inside " + dir
	for _, test := range []struct {
		name string
		act  func(sdk.Root) error
		want string
		kind toolv1.ToolErrorCategory
	}{
		{"a directory to read", func(r sdk.Root) error { _, err := r.ReadFile("logs"); return err },
			"read logs: is a directory", toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS},
		{"a directory that was opened", func(r sdk.Root) error {
			f, err := r.Open("logs")
			require.NoError(t, err)
			_, err = f.Read(make([]byte, 1))
			require.NoError(t, f.Close())
			return fmt.Errorf("summing up: %w", err)
		}, "summing up: read " + dir + "/logs: is a directory", toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS},
		{"the root", func(r sdk.Root) error { _, err := r.ReadFile("."); return err },
			"read .: is a directory", toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS},
		{"a line break", func(r sdk.Root) error { _, err := r.Stat("a\nb"); return err },
			`stat "a\nb": file does not exist`, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND},
		{"a NUL", func(r sdk.Root) error { return r.WriteFile("a\x00b", nil, 0o600) },
			`write "a\x00b": a path cannot contain a NUL byte`, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS},
		{"a line break of the system's", func(sdk.Root) error { _, err := os.Stat("/none\n/a"); return sdk.NotFound("looking: %w", err) },
			`looking: stat "/none\n/a": no such file or directory`, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND},
		{"a move from nothing", func(r sdk.Root) error { return r.FS().Rename("none.txt", "b.txt") },
			"rename none.txt b.txt: file does not exist", toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND},
		{"a move below a file", func(r sdk.Root) error { return r.FS().Rename("logs", "a.txt/logs") },
			"rename logs a.txt/logs: not a directory", toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS},
		{"a move out", func(r sdk.Root) error { return r.FS().Rename("a.txt", "../a\n.txt") },
			`rename a.txt "../a\n.txt": it is outside the allowed roots` + outside, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := sdk.New[rooted]("rooted", "For tests.")
			sdk.Tool(p, "act", "Acts.", func(_ context.Context, c *sdk.Call[rooted], _ rootIn) (doOut, error) {
				return doOut{}, test.act(c.Config.Root)
			})
			r := sdktest.Start(t, p, map[string]any{"root": dir}).Call(t.Context(), "act", nil)
			require.Equal(t, test.want, r.Err.GetMessage())
			require.Equal(t, test.kind, r.Err.GetCategory())
		})
	}
}

func TestRelativeNamesStartAtTheRootOrWhereTheCallIs(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("above"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sub", "a.txt"), []byte("below"), 0o600))
	p := sdk.New[rooted]("rooted", "For tests.")
	sdk.Tool(p, "act", "Acts.", func(_ context.Context, c *sdk.Call[rooted], in rootIn) (doOut, error) {
		above, err := c.Config.Root.ReadFile(in.Path)
		if err != nil {
			return doOut{}, err
		}
		here, err := c.Config.Root.ReadFile(c.Path(in.Path))
		return doOut{fmt.Sprintf("%s %s", above, here)}, err
	})
	h := sdktest.Start(t, p, map[string]any{"root": dir})
	r := h.CallIn(t.Context(), filepath.Join(dir, "sub"), "act", map[string]any{"path": "a.txt"})
	require.Equal(t, "above below", r.Result["did"])
}

func TestRootIsClosedWithItsProvider(t *testing.T) {
	var left sdk.Root
	t.Run("while it lives", func(t *testing.T) {
		p := sdk.New[rooted]("rooted", "For tests.")
		sdk.Tool(p, "act", "Acts.", func(context.Context, *sdk.Call[rooted], rootIn) (doOut, error) { return doOut{}, nil })
		p.Close(func(c *rooted) error {
			left = c.Root
			_, err := c.Root.Stat(".")
			return err // it is still open
		})
		sdktest.Start(t, p, map[string]any{"root": t.TempDir()})
	})
	_, err := left.Stat(".")
	require.ErrorIs(t, err, fs.ErrClosed)
}

func TestARootThatWasLeftOutHasNoFiles(t *testing.T) {
	var none sdk.Root
	_, err := none.Open("a.txt")
	require.ErrorContains(t, err, "the provider has no root; set it")
	_, err = none.Create("a.txt")
	require.Error(t, err)
	_, err = none.Stat("a.txt")
	require.Error(t, err)
	_, err = none.ReadFile("a.txt")
	require.Error(t, err)
	require.Error(t, none.WriteFile("a.txt", nil, 0o600))
	_, err = none.IOFS().Open("a.txt")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Error(t, afero.WriteFile(none.FS(), "a.txt", nil, 0o600))
	require.Empty(t, none.Dir())
}

func TestPathsInAConfiguration(t *testing.T) {
	type paths struct {
		Dir   sdk.Dir             `hcl:"dir,optional"`
		Dirs  []sdk.Dir           `hcl:"dirs,optional"`
		File  sdk.File            `hcl:"file,optional"`
		Files map[string]sdk.File `hcl:"files,optional"`
	}
	home, project := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Chdir(project)
	require.NoError(t, os.Mkdir("sub", 0o700))
	require.NoError(t, os.WriteFile("a.txt", nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(home, "b.txt"), nil, 0o600))
	require.NoError(t, syscall.Mkfifo("pipe", 0o600))
	for _, test := range []struct {
		name   string
		config map[string]any
		want   paths
		field  string
		text   string
	}{
		{"relative to the project", map[string]any{"dir": "sub", "file": "./sub/../a.txt"}, paths{Dir: sdk.Dir(filepath.Join(project, "sub")), File: sdk.File(filepath.Join(project, "a.txt"))}, "", ""},
		{"the project", map[string]any{"dir": "."}, paths{Dir: sdk.Dir(project)}, "", ""},
		{"absolute", map[string]any{"dir": home}, paths{Dir: sdk.Dir(home)}, "", ""},
		{"at home", map[string]any{"dir": "~", "file": "~/b.txt"}, paths{Dir: sdk.Dir(home), File: sdk.File(filepath.Join(home, "b.txt"))}, "", ""},
		{"lists and maps", map[string]any{"dirs": []any{".", "sub"}, "files": map[string]any{"a": "a.txt"}},
			paths{Dirs: []sdk.Dir{sdk.Dir(project), sdk.Dir(filepath.Join(project, "sub"))}, Files: map[string]sdk.File{"a": sdk.File(filepath.Join(project, "a.txt"))}}, "", ""},
		{"left out", nil, paths{}, "", ""},
		{"with a line break", map[string]any{"dir": "a\nb"}, paths{}, "dir", `there is no "` + project + `/a\nb"`},
		{"not there", map[string]any{"dir": "none"}, paths{}, "dir", "dir must be a directory that exists; there is no " + filepath.Join(project, "none")},
		{"of the wrong kind", map[string]any{"file": "sub"}, paths{}, "file", "file must be a regular file, which "},
		{"a named pipe, which would block", map[string]any{"file": "pipe"}, paths{}, "file", "is not"},
		{"below a file", map[string]any{"file": "a.txt/b"}, paths{}, "file", "cannot be looked at: not a directory"},
		{"one of a list", map[string]any{"dirs": []any{".", "a.txt"}}, paths{}, "dirs[1]", "must be a directory"},
		{"one of a map", map[string]any{"files": map[string]any{"a": ""}}, paths{}, "files.a", "must not be empty"},
		{"somebody's home", map[string]any{"dir": "~root"}, paths{}, "dir", "dir is ~root; the home of another user has to be written out"},
		{"a number", map[string]any{"dir": 1}, paths{}, "dir", "dir must be a string"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got paths
			p := sdk.New[paths]("paths", "For tests.").Setup(func(_ context.Context, cfg *paths, _ sdk.Env) error {
				got = *cfg
				return nil
			})
			sdk.Tool(p, "act", "Acts.", func(context.Context, *sdk.Call[paths], rootIn) (doOut, error) { return doOut{}, nil })
			err := sdktest.Configure(t, p, test.config)
			if test.field == "" {
				require.NoError(t, err)
				require.Equal(t, test.want, got)
				return
			}
			require.Equal(t, test.field, sdktest.ToolError(err).GetDetails().GetFields()["field"].GetStringValue())
			require.Contains(t, sdktest.ToolError(err).GetMessage(), test.text)
		})
	}
}

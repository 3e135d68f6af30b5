package repo

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func opened(t *testing.T, r *gittest.Repo) *Repo {
	t.Helper()
	o, err := Open(t.Context(), r.Dir, time.Now())
	require.NoError(t, err)
	return o
}

func TestParseIdentity(t *testing.T) {
	sig, err := parseIdentity("Ada <the> Example <ada@example.com> 1700000000 -0330")
	require.NoError(t, err)
	require.Equal(t, "Ada <the> Example", sig.Name)
	require.Equal(t, "ada@example.com", sig.Email)
	require.EqualValues(t, 1700000000, sig.When.Unix())
	require.Equal(t, "-0330", sig.When.Format("-0700"))
	for _, bad := range []string{"", "Ada", "Ada <ada@example.com", "> <", "Ada <ada@example.com> soon +0000"} {
		_, err := parseIdentity(bad)
		require.Error(t, err, bad)
	}
}

// The booleans are read as git reads them.
func TestSettingsAgreeWithGit(t *testing.T) {
	r := gittest.New(t)
	for _, value := range []string{"true", "True", "yes", "on", "1", "-1", "false", "no", "off", "0", ""} {
		r.Git("config", "demo.flag", value)
		require.Equal(t, r.Git("config", "--type=bool", "demo.flag") == "true", opened(t, r).Settings.Bool("demo.flag"), "%q", value)
	}
	require.False(t, opened(t, r).Settings.Bool("demo.absent"))
	r.Write(".git/config", r.Read(".git/config")+"[demo]\n\tbare\n\ttext = two\\nlines\n")
	require.True(t, opened(t, r).Settings.Bool("demo.bare"))
	require.Equal(t, "two\nlines", opened(t, r).Settings["demo.text"])
}

// Nothing in the environment leads to another repository.
func TestEnvironmentDoesNotMislead(t *testing.T) {
	r := gittest.New(t)
	t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "elsewhere"))
	t.Setenv("GIT_INDEX_FILE", filepath.Join(t.TempDir(), "index"))
	o := opened(t, r)
	changes, err := o.Changes(t.Context())
	require.NoError(t, err)
	require.Empty(t, changes)
}

func TestChangesAreThoseOfGit(t *testing.T) {
	r := gittest.New(t)
	r.Write("with space\tand tab", "x")
	r.Git("add", "with space\tand tab")
	r.Git("mv", "f.txt", "g.txt")
	changes, err := opened(t, r).Changes(t.Context())
	require.NoError(t, err)
	require.Equal(t, []Change{{Path: "f.txt", Code: "D."}, {Path: "g.txt", Code: "A."}, {Path: "with space\tand tab", Code: "A."}}, changes)
}

func TestChangesSayWhatIsUnmerged(t *testing.T) {
	r := gittest.New(t)
	r.Git("checkout", "-q", "-b", "other")
	r.Write("f.txt", "theirs\n")
	r.Commit("theirs")
	r.Git("checkout", "-q", "main")
	r.Write("f.txt", "ours\n")
	r.Git("stash", "-q")
	r.Write("f.txt", "more\n")
	r.Commit("more")
	_, err := os.Stat(filepath.Join(r.Dir, ".git", "MERGE_HEAD"))
	require.Error(t, err)
	r.Conflict("stash", "pop")
	changes, err := opened(t, r).Changes(t.Context())
	require.NoError(t, err)
	require.Equal(t, []Change{{Path: "f.txt", Code: "UU", Unmerged: true}}, changes)
}

// A tag that is being written by somebody else does not hide the others.
func TestTagsBesideALock(t *testing.T) {
	r := gittest.New(t)
	r.Git("tag", "sdk/v1.0.0")
	r.Git("pack-refs", "--all")
	r.Git("tag", "v1.4.0")
	r.Write(".git/refs/tags/v1.5.0.lock", "")
	tags, err := opened(t, r).Tags(t.Context())
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"sdk/v1.0.0", "v1.3.0", "v1.4.0"}, tags)
}

func TestOpenRefusesBrokenPointers(t *testing.T) {
	tests := []struct{ name, pointer string }{
		{"empty", ""},
		{"no pointer", "hello\n"},
		{"to nowhere", "gitdir: /nowhere/at/all\n"},
		{"to an empty folder", "gitdir: sub\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, ".git"), []byte(tt.pointer), 0o644))
			_, err := Open(t.Context(), dir, time.Now())
			r, ok := errors.AsType[*refusal.Error](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, "unsupported-repository", r.Kind)
		})
	}
}

// A folder named .git that holds no repository is none, and what it lies in is looked at.
func TestRootIsThatOfGit(t *testing.T) {
	r := gittest.New(t)
	below := filepath.Join(r.Dir, "docs", "book")
	require.NoError(t, os.MkdirAll(filepath.Join(r.Dir, "docs", ".git", "objects"), 0o755))
	require.NoError(t, os.MkdirAll(below, 0o755))
	root, err := Root(below)
	require.NoError(t, err)
	require.Equal(t, r.At(below).Git("rev-parse", "--show-toplevel"), root)
}

func TestOpenRefusesFilesElsewhere(t *testing.T) {
	r := gittest.New(t)
	r.Git("config", "core.worktree", "..")
	require.Equal(t, r.Dir, opened(t, r).Root)
	r.Git("config", "core.worktree", t.TempDir())
	_, err := Open(t.Context(), r.Dir, time.Now())
	refused, ok := errors.AsType[*refusal.Error](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, "unsupported-repository", refused.Kind)
	require.Contains(t, refused.Message, "core.worktree")
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/stretchr/testify/require"
)

// The worked sequence of the protocol.
func TestChangelogSequence(t *testing.T) {
	r := gittest.Init(t)
	r.Write("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n- Add slashcommand.v1 category\n")
	h := start(t, r, map[string]any{"changelog_path": "CHANGELOG.md"})
	res := run(t, h, "changelog", map[string]any{})
	require.Len(t, res.Events, 2)
	require.Equal(t, []string{"reading CHANGELOG.md"}, res.Messages())
	require.Equal(t, map[string]any{"unreleased": "- Add slashcommand.v1 category\n"}, res.Result)
}

func TestChangelogDeclaration(t *testing.T) {
	h := start(t, gittest.Init(t), nil)
	spec := h.Commands(t.Context())[0]
	require.Equal(t, "changelog", spec.GetName())
	require.Equal(t, "Show unreleased entries from CHANGELOG.md", spec.GetDescription())
	require.Equal(t, toolv1.ToolKind_TOOL_KIND_DATA_SOURCE, spec.GetKind())
	require.Equal(t, toolv1.RiskClass_RISK_CLASS_READ_ONLY, spec.GetRisk())
	require.True(t, spec.GetConcurrency().GetSafe())
	require.Empty(t, spec.GetConcurrency().GetKeyFields())
	require.False(t, spec.GetStreaming())
	require.True(t, spec.GetIdempotent())
}

func TestChangelogQueries(t *testing.T) {
	r := gittest.New(t)
	h := start(t, r, nil)
	h.Dir = filepath.Join(r.Dir, "deep")
	require.NoError(t, os.Mkdir(h.Dir, 0o755))
	added := map[string]any{"name": "Added", "entries": []any{"Add slashcommand.v1 category"}}
	text := "### Added\n\n- Add slashcommand.v1 category\n"
	old := map[string]any{"name": "", "entries": []any{"Older"}}
	tests := []struct {
		name string
		args map[string]any
		want map[string]any
	}{
		{"by category", map[string]any{"format": "json"}, map[string]any{"unreleased": text, "sections": []any{added}}},
		{"one version", map[string]any{"version": "v1.3.0"},
			map[string]any{"version": "1.3.0", "date": "2026-01-02", "markdown": "- Older\n", "sections": []any{old}}},
		{"one version by category", map[string]any{"version": "1.3.0", "format": "json"},
			map[string]any{"version": "1.3.0", "date": "2026-01-02", "sections": []any{old}}},
		{"since the newest", map[string]any{"since": "v1.3.0"}, map[string]any{"unreleased": text}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, run(t, h, "changelog", tt.args).Result)
		})
	}
}

func TestChangelogRefusals(t *testing.T) {
	tests := []struct {
		name, content string
		args          map[string]any
		category      toolv1.ToolErrorCategory
		says          string
	}{
		{"no file", "", nil, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND, "there is no CHANGELOG.md in"},
		{"no section", "# Changelog\n\n## 1.0.0\n\n- x\n", nil, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND, "above 1.0.0 on line 3"},
		{"unknown since", "## Unreleased\n\n## 1.0.0\n\n## 0.9.0\n", map[string]any{"since": "0.9.5"},
			toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND, "the nearest are 0.9.0 and 1.0.0"},
		{"both", "## Unreleased\n", map[string]any{"since": "1.0.0", "version": "1.0.0"},
			toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS, "since"},
		{"unknown format", "## Unreleased\n", map[string]any{"format": "xml"},
			toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS, "format"},
		{"no text", "## Unreleased\n\x00", nil, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED, "NUL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := gittest.Init(t)
			if tt.content != "" {
				r.Write("CHANGELOG.md", tt.content)
			}
			res := start(t, r, nil).Call(t.Context(), "changelog", tt.args)
			require.NotNil(t, res.Err)
			require.Equal(t, tt.category, res.Err.GetCategory())
			require.Contains(t, res.Err.GetMessage(), tt.says)
		})
	}
}

// A link out of the repository is refused.
func TestChangelogStaysInside(t *testing.T) {
	r := gittest.Init(t)
	secret := filepath.Join(t.TempDir(), "secret.md")
	require.NoError(t, os.WriteFile(secret, []byte("## Unreleased\n\n- secret\n"), 0o644))
	require.NoError(t, os.Symlink(secret, filepath.Join(r.Dir, "CHANGELOG.md")))
	res := start(t, r, nil).Call(t.Context(), "changelog", nil)
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED, res.Err.GetCategory())
	require.NotContains(t, res.Err.GetMessage(), "- secret")
}

// R33: a repository that cannot be opened still has a changelog to read.
func TestChangelogOfAnUnsupportedRepository(t *testing.T) {
	r := gittest.Init(t, "--object-format=sha256")
	r.Write("CHANGELOG.md", "## Unreleased\n\n- x\n")
	r.Commit("first")
	require.Equal(t, "- x\n", run(t, start(t, r, nil), "changelog", nil).Result["unreleased"])
	said := refuse(t, r, nil, map[string]any{"version": "0.1.0"}, "unsupported-repository")
	require.Contains(t, said, "objectFormat=sha256")
}

// R33: the other storage of refs, which not every git can make.
func TestReleaseOfAnotherRefStorage(t *testing.T) {
	r := gittest.New(t)
	r.Git("config", "extensions.refStorage", "reftable")
	r.Git("config", "core.repositoryFormatVersion", "1")
	require.Contains(t, refuse(t, r, nil, version140, "unsupported-repository"), "refStorage=reftable")
	require.Contains(t, run(t, start(t, r, nil), "changelog", nil).Result["unreleased"], "slashcommand.v1")
}

func TestChangelogTooLargeForAMessage(t *testing.T) {
	r := gittest.Init(t)
	r.Write("CHANGELOG.md", "## Unreleased\n\n"+strings.Repeat("- x\n", 1<<20)+"\n## 1.0.0\n\n- y\n")
	h := start(t, r, nil)
	require.Contains(t, h.Call(t.Context(), "changelog", nil).Err.GetMessage(), "ask for")
	require.Equal(t, "- y\n", run(t, h, "changelog", map[string]any{"version": "1.0.0"}).Result["markdown"])
}

// A changelog is a file: it can be read where there is no repository.
func TestChangelogWithoutARepository(t *testing.T) {
	r := gittest.Init(t)
	r.Write("sub/CHANGELOG.md", "## Unreleased\n\n- x\n")
	require.NoError(t, os.RemoveAll(filepath.Join(r.Dir, ".git")))
	h := start(t, r, nil)
	h.Dir = filepath.Join(r.Dir, "sub")
	require.Equal(t, "- x\n", run(t, h, "changelog", nil).Result["unreleased"])
}

// R25: a shallow clone has its changelog, whatever is missing of its history.
func TestChangelogOfAShallowClone(t *testing.T) {
	r := gittest.New(t)
	r.Write("f.txt", "two\n")
	r.Commit("second")
	clone := r.At(filepath.Join(t.TempDir(), "clone"))
	r.Git("clone", "-q", "--no-tags", "--depth", "1", "file://"+r.Dir, clone.Dir)
	require.Contains(t, run(t, start(t, clone, nil), "changelog", nil).Result["unreleased"], "slashcommand.v1")
}

func TestChangelogIsShownAsLists(t *testing.T) {
	h := start(t, gittest.New(t), nil)
	tree, err := h.Render(t.Context(), run(t, h, "changelog", nil).Result)
	require.NoError(t, err)
	nodes := tree.GetRoot().GetGroup().GetChildren()
	require.Equal(t, "Unreleased", nodes[0].GetText().GetContent())
	inner := nodes[1].GetGroup().GetChildren()
	require.Equal(t, "Added", inner[0].GetText().GetContent())
	require.Equal(t, "Add slashcommand.v1 category", inner[1].GetList().GetItems()[0].GetText().GetContent())

	tree, err = h.Render(t.Context(), run(t, h, "changelog", map[string]any{"version": "1.3.0"}).Result)
	require.NoError(t, err)
	require.Equal(t, "1.3.0 (2026-01-02)", tree.GetRoot().GetGroup().GetChildren()[0].GetText().GetContent())
}

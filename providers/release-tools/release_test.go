package main

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/stretchr/testify/require"
)

var version140 = map[string]any{"version": "1.4.0", "date": "2026-11-30"}

const promoted = `# Changelog

## [Unreleased]

## [1.4.0] - 2026-11-30

### Added

- Add slashcommand.v1 category

## [1.3.0] - 2026-01-02

- Older

[Unreleased]: https://github.com/example/app/compare/v1.4.0...HEAD
[1.4.0]: https://github.com/example/app/compare/v1.3.0...v1.4.0
[1.3.0]: https://github.com/example/app/releases/tag/v1.3.0
`

// The worked sequence of the protocol, to its end.
func TestReleaseSequence(t *testing.T) {
	r := gittest.New(t)
	head := r.Git("rev-parse", "HEAD")
	res := run(t, start(t, r, nil), "release", version140)

	require.Equal(t, []string{"tagging v1.4.0", "rewriting CHANGELOG.md"}, res.Messages())
	require.Len(t, res.Events, 4)
	require.NotNil(t, res.Events[0].GetProgress())
	require.Equal(t, "Created tag v1.4.0\n", string(res.Events[1].GetOutputChunk().GetData()))
	require.Equal(t, toolv1.OutputStream_OUTPUT_STREAM_STDOUT, res.Events[1].GetOutputChunk().GetStream())
	require.NotNil(t, res.Events[2].GetProgress())
	require.NotNil(t, res.Events[3].GetResult())

	require.Equal(t, "1.4.0", res.Result["version"])
	require.Equal(t, "v1.4.0", res.Result["tag"])
	require.Equal(t, head, res.Result["commit"])
	require.Equal(t, false, res.Result["committed"])
	require.Equal(t, "CHANGELOG.md", res.Result["changelog"])
	require.Contains(t, res.Result["diff"], "\n+## [1.4.0] - 2026-11-30\n")

	require.Equal(t, promoted, r.Read("CHANGELOG.md"))
	require.Equal(t, head, r.Git("rev-parse", "v1.4.0^{commit}"))
	requireGitAgrees(t, r, "v1.4.0")
	require.Equal(t, " M CHANGELOG.md", r.Git("status", "--porcelain"))
}

// requireGitAgrees holds the repository to what git itself sees.
func requireGitAgrees(t *testing.T, r *gittest.Repo, tag string) {
	t.Helper()
	require.NotContains(t, r.Git("fsck", "--strict", "--no-dangling"), "error")
	require.Equal(t, "tag", r.Git("cat-file", "-t", tag))
	require.Equal(t, tag, r.Git("describe", "--match", tag, tag))
	require.Equal(t, tag+" Release "+strings.TrimPrefix(path.Base(tag), "v"), strings.Join(strings.Fields(r.Git("tag", "-n", "-l", tag)), " "))
	require.Equal(t, "Ada Example <ada@example.com> +0000", r.Git("for-each-ref", "--format=%(taggername) %(taggeremail) %(taggerdate:format:%z)", "refs/tags/"+tag))
}

func TestReleaseCommits(t *testing.T) {
	r := gittest.New(t)
	parent := r.Git("rev-parse", "HEAD")
	r.Write("f.txt", "staged\n")
	r.Git("add", "f.txt")
	res := run(t, start(t, r, map[string]any{"commit": true, "allow_dirty": true}), "release", version140)

	require.Equal(t, []string{"rewriting CHANGELOG.md", "committing CHANGELOG.md", "tagging v1.4.0"}, res.Messages())
	require.Equal(t, "Committed CHANGELOG.md\nCreated tag v1.4.0\n", res.Stdout)
	require.Equal(t, r.Git("rev-parse", "HEAD"), res.Result["commit"])
	require.Equal(t, r.Git("rev-parse", "HEAD"), r.Git("rev-parse", "v1.4.0^{commit}"))
	require.Equal(t, parent, r.Git("rev-parse", "HEAD^"))
	require.Equal(t, "CHANGELOG.md", r.Git("show", "--format=", "--name-only", "HEAD"))
	require.Equal(t, "Release 1.4.0", r.Git("log", "-1", "--format=%B"))
	require.Equal(t, promoted, r.Git("show", "HEAD:CHANGELOG.md")+"\n")
	require.Equal(t, "M  f.txt", r.Git("status", "--porcelain"), "what else was staged stays staged")
	requireGitAgrees(t, r, "v1.4.0")
}

// The tag is there and the caller cancels before the rewrite: the worked sequence of a cancel.
func TestReleaseCancelledAfterTheTag(t *testing.T) {
	r := gittest.New(t)
	// git runs this hook inside the tagging and waits for it, so the cancel comes neither before nor after.
	r.Hook("reference-transaction", `test "$1" = prepared || exit 0; while test ! -e .git/go; do sleep 0.02; done`)
	before := r.Read("CHANGELOG.md")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h := start(t, r, nil)
	res := h.Watch(ctx, r.Dir, "release", version140, func(e *toolv1.ToolEvent) {
		if e.GetProgress().GetMessage() == "tagging v1.4.0" {
			cancel()
			r.Write(".git/go", "")
		}
	})
	require.Nil(t, res.Result)
	require.Nil(t, res.Err)
	require.NotNil(t, res.Report)
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, res.Report.GetCategory())
	require.Equal(t, "tag created; changelog rewrite cancelled before it ran", res.Report.GetMessage())
	require.Equal(t, before, r.Read("CHANGELOG.md"))
	requireGitAgrees(t, r, "v1.4.0")
}

func TestReleaseDeclaration(t *testing.T) {
	h := start(t, gittest.Init(t), nil)
	spec := h.Commands(t.Context())[1]
	require.Equal(t, "release", spec.GetName())
	require.Equal(t, toolv1.ToolKind_TOOL_KIND_RESOURCE, spec.GetKind())
	require.Equal(t, toolv1.RiskClass_RISK_CLASS_HIGH, spec.GetRisk())
	require.True(t, spec.GetStreaming())
	require.False(t, spec.GetIdempotent())
	require.False(t, spec.GetConcurrency().GetSafe())
	require.Equal(t, []string{"version"}, spec.GetInputSchema().GetRequired())
}

func TestReleasePreview(t *testing.T) {
	r := gittest.New(t)
	before := r.Snapshot()
	tree, err := start(t, r, nil).Preview(t.Context(), "release", version140)
	require.NoError(t, err)
	shown := tree.String()
	require.Contains(t, shown, "tag v1.4.0 at ")
	require.Contains(t, shown, "## [1.4.0] - 2026-11-30")
	require.Equal(t, before, r.Snapshot())

	tree, err = start(t, r, map[string]any{"commit": true}).Preview(t.Context(), "release", version140)
	require.NoError(t, err)
	require.Contains(t, tree.String(), "commit it on main, tag that commit v1.4.0")

	_, err = start(t, r, nil).Preview(t.Context(), "release", map[string]any{"version": "1.2.0"})
	require.ErrorContains(t, err, "not newer than 1.3.0")
}

func TestReleaseIsShown(t *testing.T) {
	r := gittest.New(t)
	h := start(t, r, nil)
	tree, err := h.Render(t.Context(), run(t, h, "release", version140).Result)
	require.NoError(t, err)
	nodes := tree.GetRoot().GetGroup().GetChildren()
	require.Equal(t, "Released v1.4.0", nodes[0].GetText().GetContent())
	hunks := nodes[len(nodes)-1].GetDiff().GetHunks()
	require.Len(t, hunks, 2)
	require.Equal(t, []int32{2, 6, 2, 8}, []int32{hunks[0].GetOldStart(), hunks[0].GetOldLines(), hunks[0].GetNewStart(), hunks[0].GetNewLines()})
	var added []string
	for _, l := range hunks[0].GetLines() {
		if l.GetOp() == renderv1.DiffLineOp_DIFF_LINE_OP_ADD {
			added = append(added, l.GetText())
		}
	}
	require.Len(t, hunks[0].GetLines(), 8)
	require.ElementsMatch(t, []string{"## [1.4.0] - 2026-11-30", ""}, added)
}

// Bytes that are no UTF-8 stay in the file and do not keep the result of a release from its caller.
func TestReleaseOfOtherBytes(t *testing.T) {
	for _, commit := range []bool{false, true} {
		r := gittest.New(t)
		r.Write("CHANGELOG.md", strings.Replace(gittest.Changelog, "### Added", "### Ajout\xe9", 1))
		h := start(t, r, map[string]any{"commit": commit, "tag_message": "{version}\n\n{notes}"})
		_, err := h.Preview(t.Context(), "release", version140)
		require.NoError(t, err)
		require.Contains(t, run(t, h, "release", version140).Result["diff"], "### Ajout\uFFFD")
		require.Equal(t, strings.Replace(promoted, "### Added", "### Ajout\xe9", 1), r.Read("CHANGELOG.md"))
	}
}

func FuzzDiffNode(f *testing.F) {
	for _, s := range []string{"", "@@ -1,6 +1,8 @@\n a\n+b\n-c\r\n\\ No newline at end of file\n", "@@ -x +1 @@", "@@ ", "--- a\n+++ b\n@@ -1 +1 @@\n\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, unified string) { require.NotNil(t, diffNode(unified)) })
}

func TestReleaseMessage(t *testing.T) {
	r := gittest.New(t)
	run(t, start(t, r, nil), "release", map[string]any{"version": "v1.4.0", "message": "Big one\n\n# not a comment\n"})
	require.Equal(t, "Big one\n\n# not a comment", r.Git("tag", "-l", "--format=%(contents)", "v1.4.0"))

	r = gittest.New(t)
	cfg := map[string]any{"tag_message": "{tag} on {date}\n\n{notes}"}
	run(t, start(t, r, cfg), "release", version140)
	require.Equal(t, "v1.4.0 on 2026-11-30\n\n### Added\n\n- Add slashcommand.v1 category", r.Git("tag", "-l", "--format=%(contents)", "v1.4.0"))
}

func TestConfigureRefuses(t *testing.T) {
	tests := []struct {
		name, field string
		config      map[string]any
	}{
		{"absolute path", "changelog_path", map[string]any{"changelog_path": "/etc/passwd"}},
		{"path out", "changelog_path", map[string]any{"changelog_path": "../CHANGELOG.md"}},
		{"git's own folder", "changelog_path", map[string]any{"changelog_path": "./.GIT/config"}},
		{"empty path", "changelog_path", map[string]any{"changelog_path": ""}},
		{"prefix with a space", "tag_prefix", map[string]any{"tag_prefix": "release "}},
		{"prefix with a hyphen", "tag_prefix", map[string]any{"tag_prefix": "-v"}},
		{"prefix with dots", "tag_prefix", map[string]any{"tag_prefix": "a..b"}},
		{"unknown placeholder", "tag_message", map[string]any{"tag_message": "Release {vresion}"}},
		{"NUL in a message", "tag_message", map[string]any{"tag_message": "Release\x00{version}"}},
		{"empty message", "commit_message", map[string]any{"commit_message": " "}},
		{"unknown signing", "sign", map[string]any{"sign": "x509"}},
		{"bad pattern", "branches", map[string]any{"branches": []any{"[release"}}},
		{"no end", "compare_url", map[string]any{"compare_url": "https://example.com/{from}"}},
		{"unknown end", "compare_url", map[string]any{"compare_url": "https://example.com/{from}...{head}{to}"}},
		{"no name of a variable", "env", map[string]any{"env": map[string]any{"A=B": "c"}}},
		{"wrong type", "commit", map[string]any{"commit": "yes"}},
		{"unknown attribute", "tag_perfix", map[string]any{"tag_perfix": "v"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := configure(t, tt.config)
			require.Error(t, err)
			require.Contains(t, err.Error(), tt.field)
		})
	}
}

// What a repository is shared with its group for is the group's, the object of the tag too.
func TestReleaseOfASharedRepository(t *testing.T) {
	r := gittest.Init(t, "--shared=0660")
	r.Write("CHANGELOG.md", gittest.Changelog)
	r.Commit("first")
	run(t, start(t, r, nil), "release", version140)
	tag := r.Git("rev-parse", "refs/tags/v1.4.0")
	folder, err := os.Stat(filepath.Join(r.Dir, ".git", "objects", tag[:2]))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o070), folder.Mode().Perm()&0o070, "another of the group may write more objects there")
	requireGitAgrees(t, r, "v1.4.0")
}

// A message is UTF-8, whatever the encoding of commits that the user writes.
func TestReleaseCommitIsInUTF8(t *testing.T) {
	r := gittest.New(t)
	r.Git("config", "i18n.commitEncoding", "ISO-8859-1")
	r.Git("config", "i18n.logOutputEncoding", "UTF-8")
	run(t, start(t, r, map[string]any{"commit": true, "commit_message": "Veröffentlicht {version}", "tag_message": "Übergabe {version}"}), "release", version140)
	require.Equal(t, "Veröffentlicht 1.4.0", r.Git("log", "-1", "--format=%s"))
	require.Equal(t, "Übergabe 1.4.0", r.Git("for-each-ref", "--format=%(subject)", "refs/tags/v1.4.0"))
}

// R12: the links go where origin is read from, also when the user has a short name for it, or it has a mirror.
func TestReleaseLinksGoToOrigin(t *testing.T) {
	for name, config := range map[string][][]string{
		"a short name": {{"remote.origin.url", "hub:example/app"}, {"url.git@gitlab.com:.insteadOf", "lab:"}, {"url.https://github.com/.insteadOf", "hub:"}},
		"a mirror":     {{"remote.origin.url", "https://github.com/example/app"}, {"remote.origin.url", "https://gitlab.com/example/mirror"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			r.Write("CHANGELOG.md", "## [Unreleased]\n\n- x\n\n## [1.3.0] - 2026-01-02\n\n- Older\n")
			for _, c := range config {
				r.Git(append([]string{"config", "--add"}, c...)...)
			}
			run(t, start(t, r, nil), "release", version140)
			require.Contains(t, r.Read("CHANGELOG.md"), "[1.4.0]: https://github.com/example/app/compare/v1.3.0...v1.4.0\n")
		})
	}
}

package policy

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

// FO-02, FO-03: what a path is, its links decide, also to a policy.
func TestGlobsFollowLinks(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"docs/in", "secret/in", "elsewhere"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o700))
	}
	outside := t.TempDir()
	alias := filepath.Join(outside, "alias")
	for link, target := range map[string]string{
		"docs/out": "../secret", "docs/far": outside, "docs/near": "in", "docs/new": "../secret/not-there", "docs/round": "round",
		"docs/deep": "../secret/in", "docs/chain": "out", "safe": "docs", "secret/back": "../docs/in", alias: root,
	} {
		if !filepath.IsAbs(link) {
			link = filepath.Join(root, link)
		}
		require.NoError(t, os.Symlink(target, link))
	}
	here, aliased := Place{Root: root, Dir: root}, Place{Root: alias, Dir: alias}
	tests := []struct {
		name, path   string
		at           Place
		docs, secret fit
	}{
		{"none", "docs/in/x", here, certain, none},
		{"not there", "docs/no/such/x", here, certain, none},
		{"within", "docs/near/x", here, certain, none},
		{"to elsewhere", "docs/out/x", here, possible, possible},
		{"itself", "docs/out", here, possible, possible},
		{"to what leads back, as it may be deleted", "docs/out/back", here, possible, possible},
		{"to what it leads back to", "docs/out/back/x", here, certain, none},
		{"a file that is not there yet", "docs/new", here, possible, possible},
		{"by another", "docs/chain/x", here, possible, possible},
		{"out of the project", "docs/far/x", here, possible, none},
		{"and up: not where it looks", "docs/out/../x", here, possible, none},
		{"and up: into what is denied", "docs/deep/../x", here, possible, possible},
		{"round in a circle", "docs/round/x", here, possible, none},
		{"by another name", "safe/x", here, possible, none},
		{"absolute", filepath.Join(root, "docs/out/x"), here, possible, possible},
		{"a project behind one", "docs/x", aliased, certain, none},
		{"a project behind one, by its own name", filepath.Join(root, "docs/x"), aliased, possible, none},
		{"a project behind one, to elsewhere", "docs/out/x", aliased, possible, possible},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args, err := structpb.NewStruct(map[string]any{"path": tt.path})
			require.NoError(t, err)
			for glob, want := range map[string]fit{
				"docs/**": tt.docs, "secret/**": tt.secret,
				filepath.ToSlash(tt.at.Root) + "/docs/**": tt.docs, filepath.ToSlash(tt.at.Root) + "/secret/**": tt.secret,
			} {
				g, err := ParseGlob(glob)
				require.NoError(t, err)
				got, why := g.compare("path", Call{Arguments: args, Place: tt.at})
				require.Equal(t, want, got, "%s: %s", glob, why)
			}
		})
	}
	args, err := structpb.NewStruct(map[string]any{"path": "docs/out/x"})
	require.NoError(t, err)
	require.Nil(t, Similar(Call{Provider: "p", Operation: "op", Arguments: args, Place: here}), "no grant is for what only looks like a folder")
}

// TestFollowedAtOnce is where the same path leads part by part.
func TestFollowedAtOnce(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "file"), nil, 0o600))
	require.NoError(t, os.Symlink("a", filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink(filepath.Join(dir, "a", "file"), filepath.Join(dir, "a", "b", "far")))
	require.NoError(t, os.Symlink("round", filepath.Join(dir, "round")))
	for _, path := range []string{
		"", ".", "a", "a/", "a//b/./", "a/b/..", "a/b/../../a/file", "a/file", "a/file/", "a/file/..", "missing", "a/missing/x",
		"link", "link/", "link/..", "link/b/far", "link/b/../file", "a/b/far", "a/b/far/..", "round", "../" + filepath.Base(dir) + "/link", "a\x00b",
	} {
		t.Run(path, func(t *testing.T) {
			at, ok := Place{Dir: dir}.followed(path)
			want, wantOK := walked(dir + "/" + path)
			require.Equal(t, want, at)
			require.Equal(t, wantOK, ok)
		})
	}
	require.True(t, straight(filepath.Join(dir, "a", "file")) || runtime.GOOS != "linux")
	require.False(t, straight(filepath.Join(dir, "link")))
}

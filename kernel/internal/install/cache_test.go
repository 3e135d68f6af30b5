package install

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/lock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// installed is a sandbox with one provider in it.
func installed(t *testing.T) (sandbox, Key, []byte) {
	t.Helper()
	s := newSandbox(t)
	archive := tarball(t, file("provider-x"), text("README.md"))
	k := keyFor(t, archive, linux)
	require.NoError(t, s.install(t, archive, k))
	return s, k, archive
}

func requireKind(t *testing.T, want Kind, err error) {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, want, e.Code, "%v", err)
}

// An installed copy is never written to again, and the second archive is not kept (K02).
func TestSecondInstallTouchesNothing(t *testing.T) {
	s, k, archive := installed(t)
	before, err := os.Stat(s.cache.Path(k))
	require.NoError(t, err)
	require.NoError(t, s.install(t, archive, k))
	after, err := os.Stat(s.cache.Path(k))
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))
	require.Equal(t, before.ModTime(), after.ModTime())
	require.Len(t, s.files(t), 3)
	left, err := os.ReadDir(s.cache.Downloads())
	require.NoError(t, err)
	require.Empty(t, left)
}

// Two that got past each other, on a file system that knows no locks: the first copy stays (K02).
func TestTwoCommits(t *testing.T) {
	s := newSandbox(t)
	archive := tarball(t, file("provider-x"))
	k := keyFor(t, archive, linux)
	first, err := s.cache.Stage(k, s.download(t, archive))
	require.NoError(t, err)
	second, err := s.cache.Stage(k, s.download(t, archive))
	require.NoError(t, err)
	require.NoError(t, first.Commit())
	before, err := os.Stat(s.cache.Path(k))
	require.NoError(t, err)
	require.NoError(t, second.Commit())
	after, err := os.Stat(s.cache.Path(k))
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))
	require.Equal(t, []string{string(k.Checksum)}, s.cacheFolders(t, k))
}

// Whoever changes the cache is found out, even one who changes the archive as well; and installing again puts it right.
func TestDamagedCopyIsFoundAndReplaced(t *testing.T) {
	want, err := lock.Sum(strings.NewReader(program))
	require.NoError(t, err)
	tests := []struct {
		name   string
		damage func(t *testing.T, s sandbox, k Key)
		// known and derived are what Verify says with and without a checksum of the program in the lock.
		known, derived Kind
	}{
		{"program", func(t *testing.T, s sandbox, k Key) {
			require.NoError(t, os.WriteFile(s.cache.Path(k), []byte("evil"), 0o755))
		}, ChecksumMismatch, ChecksumMismatch},
		{"program and archive", func(t *testing.T, s sandbox, k Key) {
			require.NoError(t, os.WriteFile(s.cache.Path(k), []byte("evil"), 0o755))
			evil := file("provider-x")
			evil.content = "evil"
			require.NoError(t, os.WriteFile(s.cache.Archive(k), tarball(t, evil), 0o644))
		}, ChecksumMismatch, ChecksumMismatch},
		{"archive gone", func(t *testing.T, s sandbox, k Key) {
			require.NoError(t, os.Remove(s.cache.Archive(k)))
		}, "", NotInstalled},
		{"program gone", func(t *testing.T, s sandbox, k Key) {
			require.NoError(t, os.Remove(s.cache.Path(k)))
		}, NotInstalled, NotInstalled},
		{"program is a folder", func(t *testing.T, s sandbox, k Key) {
			require.NoError(t, os.Remove(s.cache.Path(k)))
			require.NoError(t, os.Mkdir(s.cache.Path(k), 0o755))
		}, ChecksumMismatch, ChecksumMismatch},
		{"program is a link to another", func(t *testing.T, s sandbox, k Key) {
			require.NoError(t, os.Remove(s.cache.Path(k)))
			require.NoError(t, os.Symlink(s.cache.Archive(k), s.cache.Path(k)))
		}, ChecksumMismatch, ChecksumMismatch},
		{"program is a link to itself", func(t *testing.T, s sandbox, k Key) {
			require.NoError(t, os.Remove(s.cache.Path(k)))
			require.NoError(t, os.Symlink(k.Program(), s.cache.Path(k)))
		}, ChecksumMismatch, ChecksumMismatch},
		{"a link to nowhere in the place of the folder", func(t *testing.T, s sandbox, k Key) {
			require.NoError(t, os.RemoveAll(s.cache.dir(k)))
			require.NoError(t, os.Symlink("nowhere", s.cache.dir(k)))
		}, NotInstalled, NotInstalled},
		{"a file in the place of the folder", func(t *testing.T, s sandbox, k Key) {
			require.NoError(t, os.RemoveAll(s.cache.dir(k)))
			require.NoError(t, os.WriteFile(s.cache.dir(k), nil, 0o644))
		}, ChecksumMismatch, ChecksumMismatch},
		{"mode", func(t *testing.T, s sandbox, k Key) {
			require.NoError(t, os.Chmod(s.cache.Path(k), 0o644))
		}, NotExecutable, NotExecutable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, k, archive := installed(t)
			tt.damage(t, s, k)
			got, err := s.cache.Verify(k, want)
			if tt.known == "" {
				require.NoError(t, err)
				require.Equal(t, want, got)
			} else {
				requireKind(t, tt.known, err)
			}
			_, err = s.cache.Verify(k, "")
			requireKind(t, tt.derived, err)

			require.NoError(t, s.install(t, archive, k))
			_, err = s.cache.Verify(k, want)
			require.NoError(t, err)
			require.Len(t, s.cacheFolders(t, k), 1)
		})
	}
}

// cacheFolders are what is beside a provider, hidden ones too.
func (s sandbox) cacheFolders(t *testing.T, k Key) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(s.cache.dir(k)))
	require.NoError(t, err)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

func TestMismatchLeavesNothing(t *testing.T) {
	s := newSandbox(t)
	archive := tarball(t, file("provider-x"))
	k := keyFor(t, archive, linux)
	err := s.install(t, tarball(t, file("provider-x"), text("README")), k)
	requireKind(t, ChecksumMismatch, err)
	require.ErrorContains(t, err, "expected sha256:"+string(k.Checksum)+", got sha256:")
	require.Empty(t, s.files(t))
}

// What a killed install left is passed over, and cleared by the next one of the same provider.
func TestLeftoversAreCleared(t *testing.T) {
	s := newSandbox(t)
	archive := tarball(t, file("provider-x"))
	k := keyFor(t, archive, linux)
	killed, err := s.cache.Stage(k, s.download(t, archive)) // and never committed
	require.NoError(t, err)
	require.False(t, s.cache.Installed(k))
	_, err = s.cache.Verify(k, killed.Program)
	requireKind(t, NotInstalled, err)
	other := k
	other.Checksum = lock.Checksum(strings.Repeat("f", 64))
	theirs := filepath.Join(filepath.Dir(s.cache.dir(k)), stagePrefix+part(other)+"1")
	require.NoError(t, os.Mkdir(theirs, 0o755))

	require.NoError(t, s.install(t, archive, k))
	require.Equal(t, []string{filepath.Base(theirs), string(k.Checksum)}, s.cacheFolders(t, k), "what another install works on is not touched")

	gone, err := s.cache.Prune(t.Context(), false, nil, func() (func(Key) bool, error) { return func(Key) bool { return true }, nil })
	require.NoError(t, err)
	require.Empty(t, gone)
	require.Equal(t, []string{string(k.Checksum)}, s.cacheFolders(t, k))
}

func TestHoldExcludes(t *testing.T) {
	s, k, _ := installed(t)
	first, err := s.cache.Hold(t.Context(), nil, k)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = s.cache.Hold(ctx, cancel, k) // waiting is told, and gives up
	require.ErrorIs(t, err, context.Canceled)
	first.Release()
	second, err := s.cache.Hold(t.Context(), func() { t.Error("nobody holds it any more") }, k, k)
	require.NoError(t, err)
	second.Release()

	// A project is one, whichever way it was come to.
	root, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(root, link))
	project, err := s.cache.HoldProject(t.Context(), root, nil)
	require.NoError(t, err)
	ctx, cancel = context.WithCancel(t.Context())
	_, err = s.cache.HoldProject(ctx, link, cancel)
	require.ErrorIs(t, err, context.Canceled)
	project.Release()

	using, err := s.cache.Use(t.Context())
	require.NoError(t, err)
	also, err := s.cache.Use(t.Context())
	require.NoError(t, err)
	ctx, cancel = context.WithCancel(t.Context())
	_, err = s.cache.Prune(ctx, false, cancel, nil)
	require.ErrorIs(t, err, context.Canceled)
	using.Release()
	also.Release()
}

func TestPrune(t *testing.T) {
	s, kept, _ := installed(t)
	older := tarball(t, file("provider-x"))
	k := keyFor(t, older, linux)
	k.Version = "1.0.0"
	require.NoError(t, s.install(t, older, k))
	k.Source.Part = "provider-x"
	require.NoError(t, s.install(t, older, k))
	require.NoError(t, os.WriteFile(filepath.Join(s.cache.providers(), "a file of somebody"), nil, 0o644))
	stale, fresh := s.download(t, older), s.download(t, older)
	require.NoError(t, os.Chtimes(stale, time.Time{}, time.Now().Add(-2*staleDownload)))

	census := func() (func(Key) bool, error) { return func(k Key) bool { return k == kept }, nil }
	planned, err := s.cache.Prune(t.Context(), true, nil, census)
	require.NoError(t, err)
	require.Len(t, planned, 2)
	all, err := s.cache.All()
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.Positive(t, all[0].Bytes)

	gone, err := s.cache.Prune(t.Context(), false, nil, census)
	require.NoError(t, err)
	require.Equal(t, planned, gone)
	all, err = s.cache.All()
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, kept, all[0].Key)
	require.NoDirExists(t, filepath.Dir(filepath.Dir(s.cache.dir(k))), "folders that became empty are removed")
	require.NoFileExists(t, stale)
	require.FileExists(t, fresh)

	broken := errors.New("a lock that cannot be read")
	_, err = s.cache.Prune(t.Context(), false, nil, func() (func(Key) bool, error) { return nil, broken })
	require.ErrorIs(t, err, broken)
	require.True(t, s.cache.Installed(kept))
}

// A folder that was moved to a larger disk, and has a link in its place, is the same cache.
func TestPruneThroughALink(t *testing.T) {
	s, _, _ := installed(t)
	moved := filepath.Join(t.TempDir(), "moved")
	require.NoError(t, os.Rename(s.cache.providers(), moved))
	require.NoError(t, os.Symlink(moved, s.cache.providers()))
	gone, err := s.cache.Prune(t.Context(), false, nil, func() (func(Key) bool, error) { return func(Key) bool { return false }, nil })
	require.NoError(t, err)
	require.Len(t, gone, 1)
	left, err := os.ReadDir(moved)
	require.NoError(t, err)
	require.Empty(t, left)
	all, err := s.cache.All()
	require.NoError(t, err)
	require.Empty(t, all)
}

func TestPruneOfNothing(t *testing.T) {
	gone, err := Cache{Dir: filepath.Join(t.TempDir(), "none")}.Prune(t.Context(), false, nil, func() (func(Key) bool, error) { return nil, nil })
	require.NoError(t, err)
	require.Empty(t, gone)
}

func TestKeyFolders(t *testing.T) {
	for _, source := range []string{"github.com/o/r", "github.com/o/r//provider-x", "localhost:8080/o/r//p.q"} {
		t.Run(source, func(t *testing.T) {
			parsed, err := config.ParseSource(source)
			require.NoError(t, err)
			k := Key{Source: parsed, Version: "1.0.0-rc.1+b", Platform: linux, Checksum: lock.Checksum(strings.Repeat("a", 64))}
			require.NotContains(t, k.folder(), ":")
			back, ok := keyOfFolder(strings.Split(filepath.ToSlash(k.folder()), "/"))
			require.True(t, ok)
			require.Equal(t, k, back)
		})
	}
}

func TestProjects(t *testing.T) {
	p := Projects{Dir: filepath.Join(t.TempDir(), "projects")}
	all, err := p.All()
	require.NoError(t, err)
	require.Empty(t, all)
	for _, root := range []string{"/b", "/a", "/b", "/with\nnewline"} {
		require.NoError(t, p.Add(root))
	}
	require.NoError(t, os.WriteFile(filepath.Join(p.Dir, ".new-1"), []byte("/c"), 0o600))
	all, err = p.All()
	require.NoError(t, err)
	require.Equal(t, []string{"/a", "/b", "/with\nnewline"}, all)
	require.NoError(t, p.Remove("/b"))
	require.NoError(t, p.Remove("/b"))
	all, err = p.All()
	require.NoError(t, err)
	require.Equal(t, []string{"/a", "/with\nnewline"}, all)
}

// Parts that somebody was killed with go, once nobody can be writing them any more.
func TestOldPartsGo(t *testing.T) {
	dir := t.TempDir()
	old, young := filepath.Join(dir, newPrefix+"1"), filepath.Join(dir, newPrefix+"2")
	for _, path := range []string{old, young} {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	longAgo := time.Now().Add(-2 * staleNew)
	require.NoError(t, os.Chtimes(old, longAgo, longAgo))
	require.NoError(t, Projects{Dir: dir}.Add("/a"))
	require.NoFileExists(t, old)
	require.FileExists(t, young)
	require.NoError(t, os.Chtimes(young, longAgo, longAgo))
	require.NoError(t, writeWhole(filepath.Join(dir, "file"), func(*os.File) error { return nil }))
	require.NoFileExists(t, young)
}

// A program may be called like anything that is beside it.
func TestNamesOfPrograms(t *testing.T) {
	for _, name := range []string{"archive", "license", "README"} {
		t.Run(name, func(t *testing.T) {
			source, err := config.ParseSource("github.com/o/" + name)
			require.NoError(t, err)
			archive := tarball(t, file(name), text("docs/LICENSE"), text("docs/readme"))
			k := keyFor(t, archive, linux)
			k.Source = source
			s := newSandbox(t)
			require.NoError(t, s.install(t, archive, k))
			_, err = s.cache.Verify(k, "")
			require.NoError(t, err)
		})
	}
}

func TestNotAFile(t *testing.T) {
	require.ErrorIs(t, executableOf(t, "/nowhere"), fs.ErrNotExist)
}

func executableOf(t *testing.T, path string) error {
	t.Helper()
	err := Executable(path)
	requireKind(t, NotExecutable, err)
	return err
}

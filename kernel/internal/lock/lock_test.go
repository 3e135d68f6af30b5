package lock

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/registry"
)

var sum = Checksum(strings.Repeat("0123456789abcdef", 4))

var (
	linux   = registry.Platform{OS: "linux", Arch: "amd64"}
	darwin  = registry.Platform{OS: "darwin", Arch: "arm64"}
	windows = registry.Platform{OS: "windows", Arch: "amd64"}
)

func example(t testing.TB) *File {
	t.Helper()
	f := &File{}
	for _, name := range []string{"release-tools", "bash", "filesystem"} {
		source, err := config.ParseSource("github.com/agentco/agent//provider-" + name)
		require.NoError(t, err)
		f.Set(Provider{
			Name: name, Source: source, Version: "2.0.1", ResolvedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), SignedBy: "minisign key RWQf6LRC",
			Checksums: map[registry.Platform]Checksum{windows: sum, darwin: sum, linux: sum},
			Programs:  map[registry.Platform]Checksum{linux: sum},
		})
	}
	return f
}

func TestWrittenFormat(t *testing.T) {
	f := example(t)
	f.Providers = f.Providers[:1]
	require.Equal(t, heading+`lock_file_version = 1

provider "bash" {
  source      = "github.com/agentco/agent//provider-bash"
  version     = "2.0.1"
  resolved_at = "2026-01-02T03:04:05Z"
  signed_by   = "minisign key RWQf6LRC"

  checksums = {
    darwin_arm64  = "sha256:`+string(sum)+`"
    linux_amd64   = "sha256:`+string(sum)+`"
    windows_amd64 = "sha256:`+string(sum)+`"
  }

  programs = {
    linux_amd64 = "sha256:`+string(sum)+`"
  }
}
`, string(f.Bytes()))
}

func TestRoundTrip(t *testing.T) {
	path := Path(t.TempDir())
	want := example(t)
	require.NoError(t, want.Write(path))
	got, err := Read(path, "agent.lock.hcl")
	require.NoError(t, err)
	require.True(t, want.Equal(got), "%v", got)
	require.Equal(t, want.Bytes(), got.Bytes())
	bash, ok := got.Provider("bash")
	require.True(t, ok)
	require.Equal(t, 7, bash.Line())
	require.Equal(t, []registry.Platform{{OS: "darwin", Arch: "arm64"}, {OS: "linux", Arch: "amd64"}, {OS: "windows", Arch: "amd64"}}, bash.Platforms())

	// Nothing but the file is left, and it can be read by everybody who may read the project.
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	info, err := entries[0].Info()
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o644), info.Mode())
}

// What is prepared and not committed changes nothing; what a killed process had prepared is cleared by the next one.
func TestPrepare(t *testing.T) {
	root := t.TempDir()
	discarded, err := example(t).Prepare(Path(root))
	require.NoError(t, err)
	discarded.Discard()
	require.NoDirExists(t, filepath.Dir(Path(root)))

	_, err = example(t).Prepare(Path(root)) // and killed
	require.NoError(t, err)
	require.NoFileExists(t, Path(root))
	require.NoError(t, example(t).Write(Path(root)))
	entries, err := os.ReadDir(filepath.Dir(Path(root)))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// A lock file that nobody would read is not written.
func TestTooLargeToBeRead(t *testing.T) {
	f, path := example(t), Path(t.TempDir())
	p := f.Providers[0].Clone()
	for n := range maxBytes / 80 {
		p.Checksums[registry.Platform{OS: "linux", Arch: strconv.Itoa(n)}] = sum
	}
	f.Set(p)
	require.ErrorContains(t, f.Write(path), "write the lock file "+path+": it would have")
	require.NoDirExists(t, filepath.Dir(path))
}

func TestNoFileLocksNothing(t *testing.T) {
	f, err := Read(Path(t.TempDir()), "x")
	require.NoError(t, err)
	require.Empty(t, f.Providers)
}

func TestEditorsMayHaveTouchedIt(t *testing.T) {
	want := example(t)
	text := string(want.Bytes())
	for name, src := range map[string]string{
		"CRLF":             strings.ReplaceAll(text, "\n", "\r\n"),
		"byte order mark":  "\xef\xbb\xbf" + text,
		"no last newline":  strings.TrimSuffix(text, "\n"),
		"commas":           strings.ReplaceAll(text, "f\"\n    ", "f\",\n    "),
		"without comments": strings.TrimPrefix(text, heading),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse([]byte(src), "x")
			require.NoError(t, err)
			require.True(t, want.Equal(got))
		})
	}
}

func TestWriteKeepsTheOldFileWhenItCannot(t *testing.T) {
	path := Path(t.TempDir())
	require.NoError(t, example(t).Write(path))
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(path+".d", 0o755))
	err = (&File{}).Write(filepath.Join(path, "below a file"))
	require.ErrorContains(t, err, "write the lock file")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestInvalid(t *testing.T) {
	text := string(example(t).Bytes())
	edit := func(from, to string) string {
		require.Contains(t, text, from)
		return strings.Replace(text, from, to, 1)
	}
	conflict := edit(`  version     = "2.0.1"`, "<<<<<<< HEAD\n  version     = \"2.0.1\"\n=======\n  version     = \"2.1.0\"\n>>>>>>> other")
	tests := []struct {
		name, src, want string
		kind            string
	}{
		{"newer", "lock_file_version = 2\nwhat { is [this", "x:1:21: The lock file is from a newer agent", "lock-too-new"},
		{"newer, below what is unknown", "shape = 3\n[[[]]]\nlock_file_version = 7\n", "x:3:21: ", "lock-too-new"},
		{"much newer", "lock_file_version = 99999999999999999999\n", "is from a newer agent", "lock-too-new"},
		{"no version", `provider "bash" {}`, "No lock_file_version", "lock-invalid"},
		{"version of another kind", "lock_file_version = \"1\"\n", "x:1:21: Invalid lock_file_version", "lock-invalid"},
		{"version zero", "lock_file_version = 0\n", "Invalid lock_file_version", "lock-invalid"},
		{"empty", "", "No lock_file_version", "lock-invalid"},
		{"merge conflict (K16)", conflict, "x:9:1: The lock file holds a merge conflict", "lock-invalid"},
		{"merge conflict over everything", "<<<<<<< HEAD\n" + text + "=======\n>>>>>>> b\n", "x:1:1: The lock file holds a merge conflict", "lock-invalid"},
		{"cut short", text[:len(text)-20], "x:", "lock-invalid"},
		{"function", edit(`"2.0.1"`, `env("HOME")`), "Unexpected text", "lock-invalid"},
		{"template", edit(`"2.0.1"`, `"${path.root}"`), "Unexpected text", "lock-invalid"},
		{"nested", edit(`"2.0.1"`, `{a={b={c=1}}}`), "Unexpected text", "lock-invalid"},
		{"version of a provider", edit(`"2.0.1"`, `"2.0"`), `"2.0" is not a semantic version`, "lock-invalid"},
		{"number", edit(`"2.0.1"`, `2`), "Expected quoted text", "lock-invalid"},
		{"time", edit("2026-01-02T", "2026-13-02T"), "x:10:17: Invalid value", "lock-invalid"},
		{"signer", edit("minisign key", "minisign\\tkey"), "not the name of a key", "lock-invalid"},
		{"source", edit("github.com/", "https://github.com/"), "a source has no scheme", "lock-invalid"},
		{"checksum", edit(string(sum), "abc"), "is not a checksum", "lock-invalid"},
		{"upper-case checksum", edit(string(sum), strings.ToUpper(string(sum))), "is not a checksum", "lock-invalid"},
		{"platform", edit("darwin_arm64 ", "darwin "), `"darwin" is not a platform`, "lock-invalid"},
		{"platform twice", edit("linux_amd64  ", "darwin_arm64 "), "Platform darwin_arm64 is locked twice", "lock-invalid"},
		{"provider twice", edit(`"filesystem" {`, `"bash" {`), `Provider "bash" is locked twice. The first one is in line 7`, "lock-invalid"},
		{"missing", edit(`resolved_at =`, `resolved =`), "Missing resolved_at", "lock-invalid"},
		{"no checksums", "lock_file_version = 1\nprovider \"a\" {\n  checksums = {}\n}\n", "No checksums", "lock-invalid"},
		{"unknown argument", edit(`resolved_at =`, "mirror = \"x\"\n  resolved_at ="), "Unexpected argument", "lock-invalid"},
		{"too large", strings.Repeat("#\n", maxBytes/2) + text, "too large", "lock-invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.src), "x")
			var invalid *InvalidError
			require.ErrorAs(t, err, &invalid)
			require.ErrorContains(t, err, tt.want)
			require.Equal(t, tt.kind, invalid.Kind())
			var files config.Diagnostics
			require.ErrorAs(t, err, &files)
		})
	}
}

func TestSetReplaces(t *testing.T) {
	f := example(t)
	before := f.Clone()
	p, _ := f.Provider("bash")
	p = p.Clone()
	p.Programs[darwin] = sum
	require.True(t, f.Equal(before), "a clone shares nothing")
	f.Set(p)
	require.False(t, f.Equal(before))
	require.Len(t, f.Providers, 3)
}

func TestSum(t *testing.T) {
	got, err := Sum(strings.NewReader(""))
	require.NoError(t, err)
	require.Equal(t, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", got.String())
	parsed, err := ParseChecksum(got.String())
	require.NoError(t, err)
	require.Equal(t, got, parsed)
}

// What is read is written so that it reads the same, and nothing makes the parser panic.
func FuzzParse(f *testing.F) {
	f.Add(example(f).Bytes())
	f.Add([]byte("lock_file_version = 2"))
	f.Add([]byte("lock_file_version = 1\nprovider \"a\" {\n  source = \"localhost:1/a/b//c\"\n  version = \"1.0.0-rc.1+b\"\n  resolved_at = \"2026-01-02T03:04:05+02:00\"\n  checksums = { a_b = \"sha256:" + string(sum) + "\" }\n}\n"))
	f.Add([]byte("<<<<<<< HEAD\nlock_file_version = 1\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := Parse(src, "x")
		if err != nil {
			return
		}
		require.True(t, slices.IsSortedFunc(file.Providers, func(a, b Provider) int { return strings.Compare(a.Name, b.Name) }))
		again, err := Parse(file.Bytes(), "x")
		require.NoError(t, err, "%s", file.Bytes())
		require.Equal(t, file.Bytes(), again.Bytes())
		for i, p := range file.Providers {
			require.True(t, maps.Equal(p.Checksums, again.Providers[i].Checksums))
		}
	})
}

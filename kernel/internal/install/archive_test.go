package install

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/lock"
	"github.com/agentco/agent/kernel/internal/registry"
)

var linux = registry.Platform{OS: "linux", Arch: "amd64"}

const program = "#!/bin/sh\necho provider\n"

// tarEntry is a header with its content; a size that is given without content is not backed by any.
type tarEntry struct {
	tar.Header
	content string
}

func file(name string) tarEntry {
	return tarEntry{tar.Header{Name: name, Mode: 0o755, Typeflag: tar.TypeReg}, program}
}

func text(name string) tarEntry {
	return tarEntry{tar.Header{Name: name, Mode: 0o644, Typeflag: tar.TypeReg}, "text of " + name}
}

func tarball(t testing.TB, entries ...tarEntry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, e := range entries {
		announced := e.Size
		if announced == 0 {
			e.Size = int64(len(e.content))
		}
		require.NoError(t, w.WriteHeader(&e.Header))
		if announced == 0 {
			_, err := io.WriteString(w, e.content)
			require.NoError(t, err)
		}
	}
	if err := w.Close(); err != nil { // an entry without its content
		require.ErrorContains(t, err, "missed writing")
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

func zipped(t testing.TB, entries ...zip.FileHeader) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		out, err := w.CreateHeader(&e)
		require.NoError(t, err)
		if !strings.HasSuffix(e.Name, "/") {
			_, err = io.WriteString(out, program)
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func zipFile(name string, mode fs.FileMode) zip.FileHeader {
	h := zip.FileHeader{Name: name, Method: zip.Deflate}
	h.SetMode(mode)
	return h
}

// bomb is a tar that holds much of nothing.
func bomb(t testing.TB, name string, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	require.NoError(t, err)
	w := tar.NewWriter(z)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "provider-x", Mode: 0o755, Size: int64(len(program))}))
	_, err = io.WriteString(w, program)
	require.NoError(t, err)
	for i := 0; size > 0; i++ {
		part := min(size, maxProgram)
		require.NoError(t, w.WriteHeader(&tar.Header{Name: fmt.Sprintf("%s%d", name, i), Mode: 0o644, Size: part}))
		_, err = io.CopyN(w, zeroes{}, part)
		require.NoError(t, err)
		size -= part
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return b.Bytes()
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// sandbox is a cache in a folder of its own, and the files around it that must not change.
type sandbox struct {
	cache Cache
	top   string
}

func newSandbox(t testing.TB) sandbox {
	t.Helper()
	top := t.TempDir()
	return sandbox{cache: Cache{Dir: filepath.Join(top, "a/b/cache")}, top: top}
}

func keyFor(t testing.TB, archive []byte, platform registry.Platform) Key {
	t.Helper()
	source, err := config.ParseSource("github.com/o/provider-x")
	require.NoError(t, err)
	sum, err := lock.Sum(bytes.NewReader(archive))
	require.NoError(t, err)
	return Key{Source: source, Version: "1.2.3", Platform: platform, Checksum: sum}
}

// download puts an archive where downloads are.
func (s sandbox) download(t testing.TB, archive []byte) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(s.cache.Downloads(), 0o755))
	f, err := os.CreateTemp(s.cache.Downloads(), "archive-*")
	require.NoError(t, err)
	_, err = f.Write(archive)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return f.Name()
}

// install is what a caller does with an archive.
func (s sandbox) install(t testing.TB, archive []byte, k Key) error {
	t.Helper()
	h, err := s.cache.Hold(t.Context(), nil, k)
	require.NoError(t, err)
	defer h.Release()
	staged, err := s.cache.Stage(k, s.download(t, archive))
	if err != nil {
		return err
	}
	return staged.Commit()
}

// files lists everything below a folder except locks and downloads.
func (s sandbox) files(t testing.TB) (found []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(s.top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (path == s.cache.Downloads() || path == filepath.Join(s.cache.Dir, "locks")) {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		if !d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			rel, _ := filepath.Rel(s.top, path)
			found = append(found, filepath.ToSlash(rel))
		}
		return nil
	}))
	return found
}

// What harms is refused with the entry named, and leaves nothing anywhere (K09).
func TestHostileArchives(t *testing.T) {
	link := func(kind byte, to string) tarEntry {
		return tarEntry{tar.Header{Name: "docs/evil", Typeflag: kind, Linkname: to, Mode: 0o777}, ""}
	}
	special := func(kind byte) tarEntry {
		return tarEntry{tar.Header{Name: "evil", Typeflag: kind, Mode: 0o666, Devmajor: 1, Devminor: 3}, ""}
	}
	sized := func(name string, size int64) tarEntry {
		return tarEntry{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o755, Size: size}, ""}
	}
	good := file("provider-x")
	tests := []struct {
		name    string
		archive []byte
		kind    Kind
		want    string
	}{
		{"parent", tarball(t, good, text("../evil")), UnsafeArchive, `"../evil"`},
		{"parent behind a folder", tarball(t, good, text("a/../../evil")), UnsafeArchive, `"a/../../evil"`},
		{"parent inside", tarball(t, good, text("a/../evil")), UnsafeArchive, `"a/../evil"`},
		{"absolute", tarball(t, good, text("/abs")), UnsafeArchive, `"/abs" is not safe: its path is absolute`},
		{"backslash", tarball(t, good, text(`..\evil`)), UnsafeArchive, "backslash"},
		{"drive", tarball(t, good, text(`c:evil`)), UnsafeArchive, "drive"},
		{"the program itself, outside", tarball(t, file("../provider-x")), UnsafeArchive, `"../provider-x"`},
		{"control characters", tarball(t, good, text("a\x1b[2Jb")), UnsafeArchive, "control characters"},
		{"not UTF-8", tarball(t, good, text("a\xff")), UnsafeArchive, "no name"},
		{"symbolic link", tarball(t, good, link(tar.TypeSymlink, "/etc/passwd")), UnsafeArchive, "a link to /etc/passwd"},
		{"symbolic link for the program", tarball(t, tarEntry{tar.Header{Name: "provider-x", Typeflag: tar.TypeSymlink, Linkname: "/bin/sh"}, ""}), UnsafeArchive, "a link to /bin/sh"},
		{"hard link", tarball(t, good, link(tar.TypeLink, "../../x")), UnsafeArchive, "a link"},
		{"link inside", tarball(t, good, link(tar.TypeSymlink, "provider-x")), UnsafeArchive, "a link"},
		{"character device", tarball(t, good, special(tar.TypeChar)), UnsafeArchive, "a device"},
		{"block device", tarball(t, good, special(tar.TypeBlock)), UnsafeArchive, "a device"},
		{"named pipe", tarball(t, good, special(tar.TypeFifo)), UnsafeArchive, "a named pipe"},
		{"20 GiB that nobody wants", tarball(t, good, sized("evil", 20<<30)), UnsafeArchive, `"evil" is not safe: it unpacks to 21474836480 bytes`},
		{"20 GiB of a program", tarball(t, sized("provider-x", 20<<30)), UnsafeArchive, "unpacks to"},
		{"program that is cut", tarball(t, sized("provider-x", 1000)), InvalidArchive, "unexpected EOF"},
		{"much of nothing", bomb(t, "zero", maxTotal+1), UnsafeArchive, "more than 1024 MiB"},
		{"name twice", tarball(t, good, text("README.md"), text("./README.md")), UnsafeArchive, "taken"},
		{"name twice, to some systems", tarball(t, good, text("README.md"), text("readme.MD")), UnsafeArchive, "taken"},
		{"two programs", tarball(t, good, file("bin/provider-x")), NoBinary, `twice, as "provider-x" and as "bin/provider-x"`},
		{"other programs (K17)", tarball(t, file("bin/b"), file("bin/a"), text("notes.txt")), NoBinary, "no program named provider-x, only bin/a, bin/b"},
		{"no program", tarball(t, text("README.md")), NoBinary, "no program named provider-x"},
		{"a folder named like the program", tarball(t, tarEntry{tar.Header{Name: "provider-x/", Typeflag: tar.TypeDir, Mode: 0o755}, ""}), NoBinary, "no program"},
		{"empty", tarball(t), NoBinary, "no program"},
		{"no archive", []byte("<Error>AccessDenied</Error>"), InvalidArchive, "neither a .tar.gz nor a .zip"},
		{"nothing", nil, InvalidArchive, "neither"},
		{"cut gzip", tarball(t, good)[:60], InvalidArchive, "cannot be read"},
		{"cut zip", zipped(t, zipFile("provider-x", 0o755))[:40], InvalidArchive, "cannot be read"},
		{"zip: backslash", zipped(t, zipFile("provider-x", 0o755), zipFile(`..\evil`, 0o644)), UnsafeArchive, "backslash"},
		{"zip: parent", zipped(t, zipFile("provider-x", 0o755), zipFile(`x/../../evil`, 0o644)), UnsafeArchive, "leads out"},
		{"zip: link", zipped(t, zipFile("provider-x", fs.ModeSymlink|0o777)), UnsafeArchive, "a link"},
		{"zip: device", zipped(t, zipFile("evil", fs.ModeDevice|0o666)), UnsafeArchive, "a device"},
		{"zip: two programs", zipped(t, zipFile("a/provider-x", 0o755), zipFile("b/provider-x", 0o755)), NoBinary, "twice"},
		{"parent in an extended header", tarball(t, good, tarEntry{tar.Header{Name: "../" + strings.Repeat("a", 200), Typeflag: tar.TypeReg, Format: tar.FormatPAX}, ""}), UnsafeArchive, "leads out"},
		{"link to a long name", tarball(t, good, tarEntry{tar.Header{Name: "l", Typeflag: tar.TypeLink, Linkname: strings.Repeat("../", 100) + "x", Format: tar.FormatGNU}, ""}), UnsafeArchive, "a link"},
		{"name without end", tarball(t, good, text(strings.Repeat("a/", maxName)+"x")), UnsafeArchive, "no name"},
		{"parent in a second member of gzip", slices.Concat(member(t, tarball(t, good), 0, 1024), member(t, tarball(t, text("../evil")), 0, -1)), UnsafeArchive, `"../evil"`},
		{"zip: 8 EiB of a program", liar(t, "provider-x", 1<<63), UnsafeArchive, "unpacks to 9223372036854775808 bytes"},
		{"zip: more than it says", liar(t, "provider-x", 1), InvalidArchive, "cannot be read"},
		{"zip: less than it says", liar(t, "provider-x", 1000), InvalidArchive, "cannot be read"},
		{"zip: files without end", endless(400_000), UnsafeArchive, "its list of files has more than 16 MiB"},
		{"trailing garbage in gzip", append(tarball(t, good), "garbage"...), InvalidArchive, "cannot be read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSandbox(t)
			err := s.install(t, tt.archive, keyFor(t, tt.archive, linux))
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, string(tt.kind), e.Kind(), "%v", err)
			require.ErrorContains(t, err, tt.want)
			require.ErrorContains(t, err, "cannot install github.com/o/provider-x 1.2.3 linux_amd64")
			require.Empty(t, s.files(t))
		})
	}
}

// member is a part of what a tarball holds, as a member of gzip of its own.
func member(t *testing.T, archive []byte, from, to int) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(archive))
	require.NoError(t, err)
	raw, err := io.ReadAll(z)
	require.NoError(t, err)
	if to < 0 {
		to = len(raw)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err = w.Write(raw[from:to])
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// liar is a zip whose one file has another size than its header says.
func liar(t *testing.T, name string, size uint64) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	h := &zip.FileHeader{Name: name, Method: zip.Store, UncompressedSize64: size, CompressedSize64: uint64(len(program)), CRC32: crc32.ChecksumIEEE([]byte(program))}
	h.SetMode(0o755)
	content, err := w.CreateRaw(h)
	require.NoError(t, err)
	_, err = content.Write([]byte(program))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// endless is a zip that lists so many files and holds none: of 47 bytes each there, and of several hundred in memory.
func endless(count int) []byte {
	entry := slices.Concat([]byte("PK\x01\x02"), make([]byte, 24), []byte{1, 0}, make([]byte, 16), []byte("a"))
	list := bytes.Repeat(entry, count)
	end := slices.Concat([]byte("PK\x05\x06"), make([]byte, 4))
	end = binary.LittleEndian.AppendUint16(end, uint16(count&0xffff))
	end = binary.LittleEndian.AppendUint16(end, uint16(count&0xffff))
	end = binary.LittleEndian.AppendUint32(end, uint32(len(list)))
	return slices.Concat(list, end, make([]byte, 6))
}

// Sparse files as tar itself packs them: a few bytes that unpack to a whole disk.
func TestSparseFilesOfTar(t *testing.T) {
	tool, err := exec.LookPath("tar")
	if err != nil {
		t.Skip(err)
	}
	for _, format := range [][]string{{"--format=gnu"}, {"--format=pax"}, {"--format=pax", "--sparse-version=0.0"}, {"--format=pax", "--sparse-version=0.1"}} {
		t.Run(strings.Join(format, " "), func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "provider-x"), nil, 0o755))
			require.NoError(t, os.Truncate(filepath.Join(dir, "provider-x"), 100<<20))
			out, err := exec.CommandContext(t.Context(), tool, append(format, "--sparse", "-C", dir, "-czf", filepath.Join(dir, "a.tgz"), "provider-x")...).CombinedOutput()
			if err != nil {
				t.Skipf("it is not GNU tar: %s", out)
			}
			archive, err := os.ReadFile(filepath.Join(dir, "a.tgz"))
			require.NoError(t, err)
			require.Less(t, len(archive), 1000)
			s := newSandbox(t)
			require.ErrorContains(t, s.install(t, archive, keyFor(t, archive, linux)), "a sparse file")
			require.Empty(t, s.files(t))
		})
	}
}

// GNU tar's own formats for sparse files, which Go does not write.
func TestSparseFilesAreRefused(t *testing.T) {
	for name, h := range map[string]*tar.Header{
		"old GNU": {Name: "evil", Typeflag: tar.TypeGNUSparse},
		"PAX":     {Name: "evil", Typeflag: tar.TypeReg, PAXRecords: map[string]string{"GNU.sparse.realsize": "21474836480"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, "a sparse file", specialTar(h))
		})
	}
}

func TestTooManyFiles(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for i := range maxEntries + 1 {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: fmt.Sprint(i), Mode: 0o644}))
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	s := newSandbox(t)
	require.ErrorContains(t, s.install(t, b.Bytes(), keyFor(t, b.Bytes(), linux)), "at most 10000 files")
}

// What releases look like installs, whatever the mode in the archive and wherever the program is in it (K11, K17).
func TestGoodArchives(t *testing.T) {
	plain := file("provider-x")
	plain.Mode = 0o644
	const at = "a/b/cache/providers/github.com/o/provider-x/1.2.3/"
	tests := []struct {
		name     string
		archive  []byte
		platform registry.Platform
		want     []string
	}{
		{"flat", tarball(t, text("LICENSE"), text("README.md"), file("provider-x")), linux, []string{"LICENSE", "README.md", archiveName, "provider-x"}},
		{"mode 0644 (K11)", tarball(t, plain), linux, []string{archiveName, "provider-x"}},
		{"mode 0", tarball(t, tarEntry{tar.Header{Name: "provider-x", Typeflag: tar.TypeReg}, program}), linux, []string{archiveName, "provider-x"}},
		{"wrapped (K17)", tarball(t, tarEntry{tar.Header{Name: "provider-x_1.2.3_linux_amd64/", Typeflag: tar.TypeDir, Mode: 0o755}, ""},
			file("provider-x_1.2.3_linux_amd64/bin/provider-x"), text("provider-x_1.2.3_linux_amd64/README")), linux, []string{"README", archiveName, "provider-x"}},
		{"two executables (K17)", tarball(t, file("helper"), file("provider-x")), linux, []string{archiveName, "provider-x"}},
		{"dot", tarball(t, file("./provider-x")), linux, []string{archiveName, "provider-x"}},
		{"other files", tarball(t, file("provider-x"), text("etc/profile"), text(".bashrc"), text("docs/deep/README.md"), text("archive")), linux, []string{archiveName, "provider-x"}},
		{"global header", tarball(t, tarEntry{tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "abc"}}, ""}, file("provider-x")), linux, []string{archiveName, "provider-x"}},
		{"zip for Windows", zipped(t, zipFile("LICENSE.txt", 0o644), zipFile("provider-x.exe", 0o666)), registry.Platform{OS: "windows", Arch: "amd64"}, []string{"LICENSE.txt", archiveName, "provider-x.exe"}},
		{"zip with folders", zipped(t, zipFile("x/", fs.ModeDir|0o755), zipFile("x/provider-x", 0o644)), registry.Platform{OS: "darwin", Arch: "arm64"}, []string{archiveName, "provider-x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSandbox(t)
			k := keyFor(t, tt.archive, tt.platform)
			require.NoError(t, s.install(t, tt.archive, k))
			for i, name := range tt.want {
				tt.want[i] = at + tt.platform.String() + "/" + string(k.Checksum) + "/" + name
			}
			require.Equal(t, tt.want, s.files(t))
			require.True(t, s.cache.Installed(k))
			info, err := os.Stat(s.cache.Path(k))
			require.NoError(t, err)
			require.Equal(t, fs.FileMode(0o755), info.Mode())

			want, err := lock.Sum(strings.NewReader(program))
			require.NoError(t, err)
			for _, known := range []lock.Checksum{want, ""} {
				got, err := s.cache.Verify(k, known)
				require.NoError(t, err)
				require.Equal(t, want, got)
			}
		})
	}
}

// Whatever an archive is, nothing outside of its folder is written, and a failure leaves nothing at all. Bytes are an archive
// as they are, or what an archive compresses: few changes to compressed bytes leave anything to read.
func FuzzArchive(f *testing.F) {
	for _, archive := range [][]byte{
		tarball(f, file("provider-x"), text("README.md")),
		tarball(f, file("provider-x"), text("../evil")),
		tarball(f, file("a/b/provider-x"), tarEntry{tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: ".."}, ""}),
	} {
		f.Add(archive, false)
		z, err := gzip.NewReader(bytes.NewReader(archive))
		require.NoError(f, err)
		raw, err := io.ReadAll(z)
		require.NoError(f, err)
		f.Add(raw, true)
	}
	f.Add(zipped(f, zipFile("provider-x", 0o644), zipFile("LICENSE", 0o644)), false)
	f.Add(zipped(f, zipFile(`..\x`, 0o644)), false)
	f.Fuzz(func(t *testing.T, archive []byte, compress bool) {
		if compress {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, err := z.Write(archive)
			require.NoError(t, err)
			require.NoError(t, z.Close())
			archive = b.Bytes()
		}
		s := newSandbox(t)
		k := keyFor(t, archive, linux)
		err := s.install(t, archive, k)
		found := s.files(t)
		if err != nil {
			require.Empty(t, found)
			return
		}
		for _, path := range found {
			require.Equal(t, filepath.Join(s.top, filepath.FromSlash(path)), filepath.Join(s.cache.dir(k), filepath.Base(path)))
		}
		_, err = s.cache.Verify(k, "")
		require.NoError(t, err)
	})
}

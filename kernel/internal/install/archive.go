package install

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of an archive, far above what a provider needs and far below what hurts a machine.
const (
	maxProgram = 512 << 20
	maxTotal   = 1 << 30 // of everything that a tar holds: to read on in it is to decompress it
	maxEntries = 10_000
	maxName    = 1024
	maxList    = 16 << 20 // of what a zip says of its files, all of which is read into memory
)

// entry is one file of an archive. Its content can be read while it is visited.
type entry struct {
	name string
	mode fs.FileMode
	size int64
	open func() (io.ReadCloser, error)
}

// walk visits the regular files of an archive in its order. Every entry is checked, also those that nobody wants: who
// packs a way out of the folder means harm, or has a tool that is not to be relied on.
func walk(archive *os.File, visit func(entry) error) error {
	magic := make([]byte, 4)
	if _, err := archive.ReadAt(magic, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	c := &checker{seen: map[string]string{}, visit: visit}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return c.tarball(archive)
	case bytes.HasPrefix(magic, []byte("PK")):
		return c.zip(archive)
	default:
		return invalid(errors.New("it is neither a .tar.gz nor a .zip"))
	}
}

// checker refuses what is unsafe before it is visited.
type checker struct {
	seen  map[string]string // by the name as a careless file system takes it
	visit func(entry) error
}

func (c *checker) tarball(archive *os.File) error {
	info, err := archive.Stat()
	if err != nil {
		return err
	}
	compressed := bufio.NewReaderSize(io.NewSectionReader(archive, 0, info.Size()), 1<<16)
	raw, err := gzip.NewReader(compressed)
	if err != nil {
		return invalid(err)
	}
	all := &capped{from: raw, left: maxTotal}
	reader := tar.NewReader(all)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			// What follows the last entry is no part of it, but the checksum of gzip stands at its end.
			_, err = io.Copy(io.Discard, all)
			return all.explain(err)
		}
		if err != nil {
			return all.explain(err)
		}
		if header.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		if err := c.tarEntry(header, reader); err != nil {
			return all.explain(err)
		}
	}
}

func (c *checker) tarEntry(header *tar.Header, content io.Reader) error {
	mode := header.FileInfo().Mode()
	if what := specialTar(header); what != "" {
		return unsafeEntry(header.Name, "it is "+what)
	}
	return c.entry(entry{name: header.Name, mode: mode, size: header.Size, open: func() (io.ReadCloser, error) {
		return io.NopCloser(content), nil
	}})
}

// specialTar says what an entry is that is neither a file nor a folder.
func specialTar(h *tar.Header) string {
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeDir:
		for key := range h.PAXRecords {
			if strings.HasPrefix(key, "GNU.sparse.") {
				return "a sparse file"
			}
		}
		return ""
	case tar.TypeSymlink, tar.TypeLink:
		return "a link to " + clip(h.Linkname)
	case tar.TypeChar, tar.TypeBlock:
		return "a device"
	case tar.TypeFifo:
		return "a named pipe"
	case tar.TypeGNUSparse:
		return "a sparse file"
	default:
		return fmt.Sprintf("of type %q, which is neither a file nor a folder", h.Typeflag)
	}
}

func (c *checker) zip(archive *os.File) error {
	info, err := archive.Stat()
	if err != nil {
		return err
	}
	list := &metered{from: archive, left: maxList}
	reader, err := zip.NewReader(list, info.Size())
	if list.left < 0 {
		return &Error{Code: UnsafeArchive, Reason: fmt.Sprintf("its list of files has more than %d MiB", maxList>>20)}
	}
	if err != nil {
		return invalid(err)
	}
	list.left = math.MaxInt64
	for _, f := range reader.File {
		mode := f.Mode()
		if !mode.IsRegular() && !mode.IsDir() {
			return unsafeEntry(f.Name, "it is neither a file nor a folder but "+special(mode))
		}
		if f.UncompressedSize64 > maxProgram {
			return tooLarge(f.Name, f.UncompressedSize64)
		}
		if err := c.entry(entry{name: f.Name, mode: mode, size: int64(f.UncompressedSize64), open: f.Open}); err != nil {
			return err
		}
	}
	return nil
}

func special(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a link"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	default:
		return mode.String()
	}
}

func (c *checker) entry(e entry) error {
	name, err := safeName(e.name)
	if err != nil {
		return err
	}
	if e.mode.IsDir() {
		return nil
	}
	if e.size < 0 || e.size > maxProgram {
		return tooLarge(e.name, uint64(e.size))
	}
	key := strings.ToLower(name)
	if other, twice := c.seen[key]; twice {
		return unsafeEntry(e.name, fmt.Sprintf("the name is taken by %q already", clip(other)))
	}
	if len(c.seen) == maxEntries {
		return unsafeEntry(e.name, fmt.Sprintf("an archive has at most %d files", maxEntries))
	}
	c.seen[key] = e.name
	e.name = name
	return c.visit(e)
}

// safeName is the name of an entry as a path with slashes below the folder it is unpacked in. What any system would
// take for a way out is refused on every system.
func safeName(name string) (string, error) {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) {
		return "", unsafeEntry(name, "that is no name of a file")
	}
	if strings.ContainsFunc(name, unicode.IsControl) {
		return "", unsafeEntry(name, "its name holds control characters")
	}
	if strings.Contains(name, `\`) || strings.Contains(name, ":") {
		return "", unsafeEntry(name, `a backslash or a colon in a name means another folder or drive on some systems`)
	}
	if strings.HasPrefix(name, "/") {
		return "", unsafeEntry(name, "its path is absolute")
	}
	var parts []string
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "..":
			return "", unsafeEntry(name, "its path leads out of the folder")
		case "", ".":
		default:
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "/"), nil
}

// capped ends with an error that names the limit once more than left was read.
type capped struct {
	from io.Reader
	left int64
	over bool
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		c.over = true
		return 0, errors.New("too much")
	}
	if int64(len(p)) > c.left {
		p = p[:c.left]
	}
	n, err := c.from.Read(p)
	c.left -= int64(n)
	return n, err
}

// metered fails once more than left was read.
type metered struct {
	from io.ReaderAt
	left int64
}

func (m *metered) ReadAt(p []byte, at int64) (int, error) {
	if m.left -= int64(len(p)); m.left < 0 {
		return 0, errors.New("too much")
	}
	return m.from.ReadAt(p, at)
}

// explain says that the limit was it, when it was.
func (c *capped) explain(err error) error {
	var ours *Error
	switch {
	case err == nil:
		return nil
	case c.over:
		return &Error{Code: UnsafeArchive, Reason: fmt.Sprintf("it unpacks to more than %d MiB", maxTotal>>20)}
	case errors.As(err, &ours):
		return err
	default:
		return invalid(err)
	}
}

func unsafeEntry(name, why string) error {
	return &Error{Code: UnsafeArchive, Reason: fmt.Sprintf("the entry %q is not safe: %s", clip(name), why)}
}

func tooLarge(name string, size uint64) error {
	return unsafeEntry(name, fmt.Sprintf("it unpacks to %d bytes, and at most %d are allowed", size, maxProgram))
}

func invalid(err error) error {
	return &Error{Code: InvalidArchive, Reason: "the archive cannot be read: " + err.Error(), Err: err}
}

// clip keeps what an archive says from filling an error.
func clip(s string) string {
	const longest = 200
	if len(s) > longest {
		return s[:longest] + "…"
	}
	return s
}

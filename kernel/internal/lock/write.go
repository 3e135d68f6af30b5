package lock

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentco/agent/kernel/internal/registry"
)

const heading = `# What the providers of this project were resolved to. "agent init" writes this file and keeps to it; commit it, so
# that everybody runs the same. Newer versions: "agent init --upgrade". Other platforms: "agent providers lock".
# checksums are those of the released archives, programs those of the program inside, by platform.

`

// Bytes is the file as it is written: the same for the same content, whatever order it came in.
func (f *File) Bytes() []byte {
	var b bytes.Buffer
	b.WriteString(heading)
	fmt.Fprintf(&b, "lock_file_version = %d\n", Version)
	for _, p := range f.Providers {
		fmt.Fprintf(&b, "\nprovider %q {\n", p.Name)
		fmt.Fprintf(&b, "  source      = %q\n", p.Source)
		fmt.Fprintf(&b, "  version     = %q\n", p.Version)
		fmt.Fprintf(&b, "  resolved_at = %q\n", p.ResolvedAt.UTC().Format(time.RFC3339))
		if p.SignedBy != "" {
			fmt.Fprintf(&b, "  signed_by   = %q\n", p.SignedBy)
		}
		writeSums(&b, "checksums", p.Checksums)
		writeSums(&b, "programs", p.Programs)
		b.WriteString("}\n")
	}
	return b.Bytes()
}

func writeSums(b *bytes.Buffer, name string, sums map[registry.Platform]Checksum) {
	if len(sums) == 0 {
		return
	}
	platforms := sorted(sums)
	width := 0
	for _, p := range platforms {
		width = max(width, len(p.String()))
	}
	fmt.Fprintf(b, "\n  %s = {\n", name)
	for _, p := range platforms {
		fmt.Fprintf(b, "    %-*s = %q\n", width, p, sums[p])
	}
	b.WriteString("  }\n")
}

// Write replaces the file at path in one step: whoever reads sees the old one or the new one, also after a power cut.
// The folder is made when it is not there. One process at a time may.
func (f *File) Write(path string) error {
	p, err := f.Prepare(path)
	if err != nil {
		return err
	}
	return p.Commit()
}

// Pending is a lock file that is on the disk, and not in its place yet. One of Commit and Discard ends it.
type Pending struct {
	path, temp string
	made       bool // the folder is ours
}

const tempPrefix = ".agent.lock-"

// Prepare does of Write what can fail. One process at a time may: what another one left that was killed is removed.
func (f *File) Prepare(path string) (*Pending, error) {
	p := &Pending{path: path}
	content := f.Bytes()
	if len(content) > maxBytes { // nobody would read it again
		return nil, p.failed(fmt.Errorf("it would have %d bytes, and it has at most %d", len(content), maxBytes))
	}
	if err := p.write(content); err != nil {
		p.Discard()
		return nil, p.failed(err)
	}
	return p, nil
}

func (p *Pending) write(content []byte) error {
	dir := filepath.Dir(p.path)
	_, err := os.Lstat(dir)
	p.made = errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	clearLeftovers(dir)
	temp, err := os.CreateTemp(dir, tempPrefix+"*")
	if err != nil {
		return err
	}
	p.temp = temp.Name()
	_, err = temp.Write(content)
	return errors.Join(err, temp.Chmod(0o644), temp.Sync(), temp.Close())
}

// clearLeftovers keeps what a killed process was writing out of the project, where version control would show it for ever.
func clearLeftovers(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// Commit puts the file into its place.
func (p *Pending) Commit() error {
	if err := os.Rename(p.temp, p.path); err != nil {
		p.Discard()
		return p.failed(err)
	}
	syncFolder(filepath.Dir(p.path))
	return nil
}

// Discard leaves everything as it was.
func (p *Pending) Discard() {
	if p.temp != "" {
		_ = os.Remove(p.temp)
	}
	if p.made {
		_ = os.Remove(filepath.Dir(p.path))
	}
}

func (p *Pending) failed(err error) error {
	return fmt.Errorf("write the lock file %s: %w", p.path, err)
}

// syncFolder makes a rename last. Not every file system can, and the rename stands either way.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

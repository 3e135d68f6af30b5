package install

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/agentco/agent/kernel/internal/lock"
)

// Of what an archive holds beside the program, only these are kept: licences want to stay with what they are for.
var document = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(readme|licen[cs]e|copying|notice|changelog)([.-][a-z0-9.-]*)?$`)
})

const (
	maxDocument  = 1 << 20
	maxDocuments = 20
)

// destination is where the files of an archive go. Names are plain: no folders.
type destination interface {
	create(name string, mode os.FileMode) (io.WriteCloser, error)
}

// nowhere is a destination for those who want to know what the program hashes to.
type nowhere struct{}

func (nowhere) create(string, os.FileMode) (io.WriteCloser, error) { return discard{io.Discard}, nil }

type discard struct{ io.Writer }

func (discard) Close() error { return nil }

// unpack takes the program and the documents out of an archive, and returns the checksum of the program. program is
// its file name, with .exe on Windows. When it fails, what was written so far is to be thrown away.
func unpack(archive *os.File, program string, to destination) (lock.Checksum, error) {
	u := &unpacker{program: program, to: to, documents: map[string]bool{}}
	if err := walk(archive, u.visit); err != nil {
		return "", err
	}
	if u.sum == "" {
		return "", u.noBinary()
	}
	return u.sum, nil
}

type unpacker struct {
	program   string
	to        destination
	sum       lock.Checksum
	from      string // the entry that is the program
	others    []string
	documents map[string]bool
}

func (u *unpacker) visit(e entry) error {
	base := path.Base(e.name)
	switch {
	case base == u.program && u.sum != "":
		return &Error{Code: NoBinary, Reason: fmt.Sprintf("it holds the program twice, as %q and as %q", clip(u.from), clip(e.name))}
	case base == u.program:
		hash := sha256.New()
		if err := u.extract(e, base, 0o755, hash); err != nil {
			return err
		}
		u.sum, u.from = lock.Checksum(hex.EncodeToString(hash.Sum(nil))), e.name
	case document().MatchString(base):
		return u.document(e, base)
	case len(u.others) < maxDocuments && (e.mode&0o111 != 0 || strings.HasSuffix(base, ".exe")):
		u.others = append(u.others, e.name)
	}
	return nil
}

// document keeps what stands at the top, or in the one folder that wraps everything.
func (u *unpacker) document(e entry, base string) error {
	name := strings.ToLower(base)
	if strings.EqualFold(base, u.program) { // they would be one file on some systems
		return nil
	}
	if strings.Count(e.name, "/") > 1 || e.size > maxDocument || u.documents[name] || len(u.documents) == maxDocuments {
		return nil
	}
	u.documents[name] = true
	return u.extract(e, base, 0o644, io.Discard)
}

func (u *unpacker) extract(e entry, as string, mode os.FileMode, hash io.Writer) (err error) {
	content, err := e.open()
	if err != nil {
		return invalid(err)
	}
	defer content.Close()
	out, err := u.to.create(as, mode)
	if err != nil {
		return cannotWrite(err)
	}
	defer func() {
		if closeErr := out.Close(); err == nil && closeErr != nil {
			err = cannotWrite(closeErr)
		}
	}()
	// One more than it said: a liar is to be noticed, not to be cut.
	limit := e.size + 1
	n, err := io.Copy(io.MultiWriter(writes{out}, hash), io.LimitReader(content, limit))
	var failed *writeError
	switch {
	case errors.As(err, &failed):
		return cannotWrite(failed.err)
	case err != nil:
		return invalid(err)
	case n != e.size:
		return invalid(fmt.Errorf("%s has %d bytes or more, and %d were announced", clip(e.name), n, e.size))
	}
	return nil
}

// cannotWrite is no fault of the archive.
func cannotWrite(err error) error {
	return &Error{Code: CacheFailed, Reason: err.Error(), Err: err}
}

// writes tells a destination that fails from an archive that does.
type writes struct{ to io.Writer }

type writeError struct{ err error }

func (e *writeError) Error() string { return e.err.Error() }

func (w writes) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	if err != nil {
		err = &writeError{err}
	}
	return n, err
}

func (u *unpacker) noBinary() error {
	reason := fmt.Sprintf("it holds no program named %s", u.program)
	if len(u.others) > 0 {
		slices.Sort(u.others)
		reason += ", only " + clip(strings.Join(u.others, ", "))
	}
	return &Error{Code: NoBinary, Reason: reason}
}

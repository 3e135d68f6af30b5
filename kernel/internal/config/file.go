package config

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// The parser and the evaluator recurse, so what is fed to them is bounded: far above what a person
// writes, far below what could exhaust a stack.
const (
	maxFileBytes = 256 << 10
	maxNesting   = 100
	maxChain     = 10_000
	maxExponent  = 30
)

// file is one parsed file, kept for the source lines of diagnostics.
type file struct {
	name string // as shown
	src  []byte // without a byte order mark
	mark int    // the length of that
	body *hclsyntax.Body
}

// block is one block of a file.
type block = hclsyntax.Block

// open reads and parses a file. The body is what could be understood; never nil.
func open(path, name string) (*file, hcl.Diagnostics) {
	f := &file{name: name, body: &hclsyntax.Body{}}
	src, err := read(path)
	if err != nil {
		return f, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Cannot read " + name, Detail: err.Error()}}
	}
	return parse(name, src)
}

func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	// A pipe would block the open below.
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFileBytes+1))
}

func parse(name string, src []byte) (*file, hcl.Diagnostics) {
	return parseUpTo(maxFileBytes, name, src)
}

func parseUpTo(most int, name string, src []byte) (*file, hcl.Diagnostics) {
	f := &file{name: name, src: bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")), body: &hclsyntax.Body{}}
	f.mark = len(src) - len(f.src)
	if len(src) > most {
		return f, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: name + " is too large",
			Detail: fmt.Sprintf("A configuration file has at most %d bytes.", most)}}
	}
	if diags := notText(f); diags.HasErrors() {
		return f, diags
	}
	if diags := tooDeep(f); diags.HasErrors() {
		return f, diags
	}
	parsed, diags := hclsyntax.ParseConfig(f.src, name, hcl.InitialPos)
	if body, ok := parsed.Body.(*hclsyntax.Body); ok {
		f.body = body
	}
	return f, diags
}

// notText refuses what is not UTF-8, or has a NUL, at its first wrong byte: of everything after that the parser would complain
// as well, and within quotes it would not complain at all.
func notText(f *file) hcl.Diagnostics {
	if utf8.Valid(f.src) && bytes.IndexByte(f.src, 0) < 0 {
		return nil
	}
	at := 0
	for at < len(f.src) {
		r, size := utf8.DecodeRune(f.src[at:])
		if r == utf8.RuneError && size == 1 || r == 0 {
			break
		}
		at += size
	}
	detail := "Save it as UTF-8."
	if f.src[at] == 0 {
		detail = "There is a NUL byte in it. Take it out, and save it as UTF-8."
	}
	if bytes.HasPrefix(f.src, []byte("\xff\xfe")) || bytes.HasPrefix(f.src, []byte("\xfe\xff")) {
		detail = "It is UTF-16, which some editors and the > of PowerShell write. Save it as UTF-8."
	}
	place := hcl.Pos{Line: bytes.Count(f.src[:at], []byte("\n")) + 1, Column: 1, Byte: at}
	return hcl.Diagnostics{errorAt(hcl.Range{Filename: f.name, Start: place, End: place}, f.name+" is not text in UTF-8", "%s", detail)}
}

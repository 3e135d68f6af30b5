// Package scenario reads what a provider's author says about it: how to configure it, what to lay into the working
// folder, which calls to try and how they must end.
package scenario

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"google.golang.org/protobuf/types/known/structpb"
)

// Scenario is a file that was read. Its expressions are evaluated for each working folder; see [Scenario.In].
type Scenario struct {
	file    document
	config  hcl.Attributes
	waivers map[string]string
}

// document is the file as it is written.
type document struct {
	Config      *configBlock   `hcl:"config,block"`
	Environment hcl.Expression `hcl:"environment,optional"`
	Setup       hcl.Expression `hcl:"setup,optional"`
	Files       []fileBlock    `hcl:"file,block"`
	Calls       []callBlock    `hcl:"call,block"`
	Waivers     []waiverBlock  `hcl:"waive,block"`
}

type configBlock struct {
	Attributes hcl.Body `hcl:",remain"`
}

type fileBlock struct {
	Path    string         `hcl:"path,label"`
	Content hcl.Expression `hcl:"content"`
	Mode    string         `hcl:"mode,optional"`
}

type callBlock struct {
	Operation   string         `hcl:"operation,label"`
	Name        string         `hcl:"name,label"`
	Arguments   hcl.Expression `hcl:"arguments,optional"`
	Expect      string         `hcl:"expect,optional"`
	Payload     hcl.Expression `hcl:"payload,optional"`
	Stdout      hcl.Expression `hcl:"stdout,optional"`
	Stderr      hcl.Expression `hcl:"stderr,optional"`
	CancelAfter string         `hcl:"cancel_after,optional"`
	Directory   string         `hcl:"directory,optional"`
	Preview     bool           `hcl:"preview,optional"`
	Render      bool           `hcl:"render,optional"`
	Parallel    bool           `hcl:"parallel,optional"`
	Range       hcl.Range      `hcl:",def_range"`
}

type waiverBlock struct {
	Rule   string `hcl:"rule,label"`
	Reason string `hcl:"reason"`
}

// Empty is the scenario of a provider that has none.
func Empty() *Scenario { return &Scenario{waivers: map[string]string{}} }

// Read reads a file. Its error names the line and what to write there.
func Read(path string) (*Scenario, error) {
	source, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the scenario: %w", err)
	}
	return Parse(source, path)
}

// readFile reads a file of a size that a person writes: a pipe may never end, and a device neither.
func readFile(path string) ([]byte, error) {
	const most = 4 << 20
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	case info.Size() > most:
		return nil, fmt.Errorf("%s has %d bytes, more than %d", path, info.Size(), most)
	}
	return os.ReadFile(path)
}

// Parse reads the text of a file; name stands in errors.
func Parse(source []byte, name string) (*Scenario, error) {
	file, err := parseHCL(source, name)
	if err != nil {
		return nil, err
	}
	s := Empty()
	if diags := gohcl.DecodeBody(file.Body, nil, &s.file); diags.HasErrors() {
		return nil, problems(diags)
	}
	if s.file.Config != nil {
		var diags hcl.Diagnostics
		if s.config, diags = s.file.Config.Attributes.JustAttributes(); diags.HasErrors() {
			return nil, problems(diags)
		}
	}
	for _, w := range s.file.Waivers {
		if strings.TrimSpace(w.Reason) == "" {
			return nil, fmt.Errorf("%s: the waiver of %s gives no reason; say why the rule cannot hold", name, w.Rule)
		}
		if _, twice := s.waivers[w.Rule]; twice {
			return nil, fmt.Errorf("%s: %s is waived twice", name, w.Rule)
		}
		s.waivers[w.Rule] = w.Reason
	}
	if err := s.file.unique(name); err != nil {
		return nil, err
	}
	// What is wrong is said now, not in the middle of a run.
	if _, err := s.In("/workdir"); err != nil {
		return nil, err
	}
	return s, s.file.resultsExist()
}

// unique refuses files and calls that are there twice: which of them is meant could not be told.
func (d document) unique(name string) error {
	known := map[string]bool{}
	for _, f := range d.Files {
		if path := "file " + filepath.Clean(f.Path); known[path] {
			return fmt.Errorf("%s: the file %q is there twice", name, f.Path)
		} else {
			known[path] = true
		}
	}
	for _, c := range d.Calls {
		if call := fmt.Sprintf("call %q %q", c.Operation, c.Name); known[call] {
			return fmt.Errorf("%s: %s is there twice; give one another name", c.Range, call)
		} else {
			known[call] = true
		}
	}
	return nil
}

// parseHCL reads syntax. A number with an exponent in the millions is refused before arithmetic on it takes for ever.
func parseHCL(source []byte, name string) (*hcl.File, error) {
	file, diags := hclparse.NewParser().ParseHCL(source, name)
	if diags.HasErrors() {
		return nil, problems(diags)
	}
	tokens, _ := hclsyntax.LexConfig(source, name, hcl.InitialPos)
	for _, token := range tokens {
		if token.Type != hclsyntax.TokenNumberLit {
			continue
		}
		if _, err := strconv.ParseFloat(string(token.Bytes), 64); err != nil {
			return nil, fmt.Errorf("%s: the number %s is too large for a call", token.Range, token.Bytes)
		}
	}
	return file, nil
}

// ReadConfig replaces the configuration by the attributes of a file.
func (s *Scenario) ReadConfig(path string) error {
	source, err := readFile(path)
	if err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	file, err := parseHCL(source, path)
	if err != nil {
		return err
	}
	attributes, diags := file.Body.JustAttributes()
	if diags.HasErrors() {
		return problems(diags)
	}
	s.config = attributes
	_, err = s.In("/workdir")
	return err
}

// Waivers are the reasons why rules are not held against the provider, by rule id.
func (s *Scenario) Waivers() map[string]string { return s.waivers }

// Operations are the names of the operations that have calls.
func (s *Scenario) Operations() (names []string) {
	for _, c := range s.file.Calls {
		if !slices.Contains(names, c.Operation) {
			names = append(names, c.Operation)
		}
	}
	return names
}

// Has reports whether an operation has calls.
func (s *Scenario) Has(operation string) bool {
	return slices.ContainsFunc(s.file.Calls, func(c callBlock) bool { return c.Operation == operation })
}

// Situation is a scenario in one working folder.
type Situation struct {
	// Config is the provider block; nil when the scenario has none.
	Config *structpb.Struct
	// Environment is what the provider gets beside the allow-list.
	Environment map[string]string
	Files       []File
	// Setup are commands that run in the folder once the files are there.
	Setup [][]string
	// Calls in the order in which they are made.
	Calls []Call
}

// File is laid into the working folder.
type File struct {
	Path    string
	Content string
	Mode    fs.FileMode
}

// Call is one call to try.
type Call struct {
	Operation string
	Name      string
	Arguments *structpb.Struct
	// Expect is "result" or the name of an error category.
	Expect string
	// Payload is what the payload of the result must hold, among others; nil when anything goes.
	Payload *structpb.Struct
	// Stdout and Stderr are what the call prints, whole; nil when anything goes.
	Stdout, Stderr *string
	// Cancel says when to cancel the call; nil when it is left to end.
	Cancel *Cancel
	// Directory is the call's working directory, relative to the working folder.
	Directory string
	// Preview and Render demand that these answer for the call.
	Preview, Render bool
	// Parallel calls are made again, all at once, in a folder of their own.
	Parallel bool

	late *late // nil when Arguments are all there is
}

// Cancel is the moment at which a call is cancelled.
type Cancel struct {
	// Event is what is waited for: "event" for any, "output" for a chunk or a partial result. Empty means time alone.
	Event string
	// After is how long to wait after that.
	After time.Duration
}

func parseCancel(text string) (*Cancel, error) {
	switch text {
	case "":
		return nil, nil
	case "start":
		return &Cancel{}, nil
	case "event", "output":
		return &Cancel{Event: text}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return nil, fmt.Errorf(`cancel_after is %q; it may be "start", "event", "output" or a time such as "200ms"`, text)
	}
	return &Cancel{After: d}, nil
}

// expectations are what a call may end with.
var expectations = []string{
	"result", "invalid_arguments", "not_found", "permission_denied", "execution_failed", "timeout", "concurrency_conflict", "unknown",
}

func parseMode(text string) (fs.FileMode, error) {
	if text == "" {
		return 0o644, nil
	}
	mode, err := strconv.ParseUint(text, 8, 32)
	if err != nil || mode > 0o777 {
		return 0, fmt.Errorf(`mode is %q; write permissions in octal, such as "0644"`, text)
	}
	return fs.FileMode(mode), nil
}

// inside refuses a path that leaves the working folder.
func inside(path string) error {
	if !filepath.IsLocal(path) || strings.ContainsRune(path, 0) {
		return fmt.Errorf("%q is not a path inside the working folder; write a relative one", path)
	}
	return nil
}

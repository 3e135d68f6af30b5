// Package scaffold writes a new provider: a Go module that builds, tests itself and holds to the protocol as it is.
//
//	name, source, SDK ─► templates/ ─► Files (in memory) ─► Write (all of them or none)
//
// It writes the first agent.hcl of a project too.
// It knows nothing of running providers.
package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed templates
var templates embed.FS

// files are the templates by the name of what they become. A template may not begin with a dot, and one in Go may not
// be taken for a part of this package.
var files = []struct{ name, template string }{
	{".gitignore", "gitignore.tmpl"},
	{".goreleaser.yaml", "goreleaser.yaml.tmpl"},
	{"Makefile", "Makefile.tmpl"},
	{"README.md", "README.md.tmpl"},
	{"agent.hcl", "agent.hcl.tmpl"},
	{"conformance.hcl", "conformance.hcl.tmpl"},
	{"conformance_test.go", "conformance_test.go.tmpl"},
	{"count.go", "count.go.tmpl"},
	{"go.mod", "go.mod.tmpl"},
	{"main.go", "main.go.tmpl"},
	{"provider_test.go", "provider_test.go.tmpl"},
	{"replace.go", "replace.go.tmpl"},
}

// Provider is a provider to be written.
type Provider struct {
	// Name is how agent.hcl calls it; see [CheckName].
	Name string
	// Source is where it will be released, HOST/OWNER/REPO. It is the path of the Go module too.
	Source string
	// SDK is what it is built with.
	SDK SDK
}

// File is one file of a new provider.
type File struct {
	Name string
	Text []byte
}

// ExistsError says that writing would replace files.
type ExistsError struct {
	Dir   string
	Names []string
}

func (e *ExistsError) Error() string {
	return fmt.Sprintf("%s has %s already, and nothing is ever replaced: name another folder with --dir", e.Dir, strings.Join(e.Names, ", "))
}

// Files makes every file, in memory.
func (p Provider) Files() ([]File, error) {
	made := make([]File, len(files))
	for i, f := range files {
		// The files hold templates of their own, of goreleaser and of make.
		t, err := template.New(f.template).Delims("<<", ">>").Option("missingkey=error").ParseFS(templates, "templates/"+f.template)
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		if err := t.Execute(&text, p); err != nil {
			return nil, err
		}
		made[i] = File{Name: f.name, Text: text.Bytes()}
	}
	return made, nil
}

// Write writes every file into dir, which is made when it does not exist, and gives their names. When a file is there
// already it is an [*ExistsError]; after any error nothing is left.
func (p Provider) Write(dir string) ([]string, error) {
	made, err := p.Files()
	if err != nil {
		return nil, err
	}
	if err := free(dir, made); err != nil {
		return nil, err
	}
	undo, err := makeFolder(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range made {
		if err := create(filepath.Join(dir, f.Name), f.Text); err != nil {
			for _, name := range names {
				err = errors.Join(err, os.Remove(filepath.Join(dir, name)))
			}
			return nil, errors.Join(err, undo())
		}
		names = append(names, f.Name)
	}
	return names, nil
}

// free looks for files that would be in the way.
func free(dir string, made []File) error {
	var taken []string
	for _, f := range made {
		_, err := os.Lstat(filepath.Join(dir, f.Name))
		switch {
		case err == nil:
			taken = append(taken, f.Name)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	if len(taken) > 0 {
		return &ExistsError{Dir: dir, Names: taken}
	}
	return nil
}

// makeFolder makes dir with its parents. undo removes those that it made.
func makeFolder(dir string) (undo func() error, err error) {
	var missing []string
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	undo = func() error {
		var errs []error
		for _, made := range missing {
			if err := os.Remove(made); !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, errors.Join(err, undo())
	}
	return undo, nil
}

// create writes a file that must not exist. After an error there is none.
func create(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

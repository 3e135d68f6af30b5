package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	modzip "golang.org/x/mod/zip"
)

// release is a clone, with a commit in which every module stands by itself.
type release struct {
	root    string
	temp    string
	modules []moduleAt
	commit  string
}

// tree is where the clone is.
func (r *release) tree() string { return filepath.Join(r.temp, "tree") }

// zip is a module as a proxy would serve it.
func (r *release) zip(m moduleAt) string {
	return filepath.Join(r.temp, strings.ReplaceAll(m.dir, "/", "_")+".zip")
}

// prepare makes the commit. The caller removes the release.
func prepare(root string, modules []moduleAt) (_ *release, err error) {
	temp, err := os.MkdirTemp("", "modules")
	if err != nil {
		return nil, err
	}
	r := &release{root: root, temp: temp, modules: modules}
	defer func() {
		if err != nil {
			r.remove()
		}
	}()
	if _, err := r.git(root, "clone", "--quiet", "--shared", ".", r.tree()); err != nil {
		return nil, err
	}
	if err := r.complete(); err != nil {
		return nil, err
	}
	var sums []sum
	for _, m := range modules {
		if err := r.standalone(m, sums); err != nil {
			return nil, fmt.Errorf("%s: %w", m.dir, err)
		}
		s, err := r.pack(m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.dir, err)
		}
		sums = append(sums, s)
	}
	r.commit, err = r.git(r.tree(), "rev-parse", "HEAD")
	return r, err
}

// complete refuses a list that lacks a module which another one needs: go.work has them all.
func (r *release) complete() error {
	text, err := os.ReadFile(filepath.Join(r.tree(), "go.work"))
	if err != nil {
		return err
	}
	work, err := modfile.ParseWork("go.work", text, nil)
	if err != nil {
		return err
	}
	for _, use := range work.Use {
		dir := strings.TrimPrefix(filepath.ToSlash(use.Path), "./")
		listed := slices.ContainsFunc(r.modules, func(m moduleAt) bool { return m.dir == dir })
		if !listed && !strings.HasPrefix(dir, "examples/") && dir != "bench" {
			return fmt.Errorf("tools/versions.txt has no version for %s", dir)
		}
	}
	return nil
}

// sum is a line of go.sum for the module, and one for its go.mod.
type sum struct {
	at          module.Version
	whole, file string
}

// standalone rewrites go.mod and go.sum of a module, whose neighbours have been packed before it, and commits that.
func (r *release) standalone(m moduleAt, sums []sum) error {
	file := filepath.Join(r.tree(), filepath.FromSlash(m.dir), "go.mod")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	f, err := modfile.Parse(file, text, nil)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, require := range slices.Clone(f.Require) {
		if !strings.HasPrefix(require.Mod.Path, repository) {
			continue
		}
		at := slices.IndexFunc(sums, func(s sum) bool { return s.at.Path == require.Mod.Path })
		if at < 0 {
			return fmt.Errorf("it requires %s, which must stand before it in tools/versions.txt", require.Mod.Path)
		}
		s := sums[at]
		if err := f.AddRequire(s.at.Path, s.at.Version); err != nil {
			return err
		}
		if err := f.DropReplace(s.at.Path, ""); err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%s %s %s\n%s %s/go.mod %s\n", s.at.Path, s.at.Version, s.whole, s.at.Path, s.at.Version, s.file)
	}
	for _, replace := range f.Replace {
		if replace.New.Version == "" && replace.Old.Path != "" {
			return fmt.Errorf("it replaces %s by a folder and does not require it", replace.Old.Path)
		}
	}
	f.Cleanup()
	if text, err = f.Format(); err != nil {
		return err
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return err
	}
	if err := addSums(filepath.Join(filepath.Dir(file), "go.sum"), lines.String()); err != nil {
		return err
	}
	_, err = r.git(r.tree(), "commit", "--quiet", "--all", "--allow-empty", "--no-verify", "--message", m.dir+" "+m.version)
	return err
}

// addSums adds lines to go.sum where they belong.
func addSums(file, lines string) error {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	all := strings.FieldsFunc(string(text)+lines, func(r rune) bool { return r == '\n' })
	slices.Sort(all)
	return os.WriteFile(file, []byte(strings.Join(slices.Compact(all), "\n")+"\n"), 0o644)
}

// pack makes the zip of a module from the commit, exactly as the go command does from a tag.
func (r *release) pack(m moduleAt) (sum, error) {
	var content bytes.Buffer
	if err := modzip.CreateFromVCS(&content, m.at(), r.tree(), "HEAD", m.dir); err != nil {
		return sum{}, err
	}
	if err := os.WriteFile(r.zip(m), content.Bytes(), 0o644); err != nil {
		return sum{}, err
	}
	whole, err := dirhash.HashZip(r.zip(m), dirhash.Hash1)
	if err != nil {
		return sum{}, err
	}
	gomod, err := r.goMod(m)
	if err != nil {
		return sum{}, err
	}
	file, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(gomod)), nil
	})
	return sum{at: m.at(), whole: whole, file: file}, err
}

// goMod is the go.mod within the zip of a module.
func (r *release) goMod(m moduleAt) ([]byte, error) {
	z, err := zip.OpenReader(r.zip(m))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	f, err := z.Open(m.path() + "@" + m.version + "/go.mod")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// tag names the commit once for each module that has no tag of its version yet.
func (r *release) tag() error {
	if _, err := r.git(r.root, "fetch", "--quiet", "--no-tags", r.tree(), r.commit); err != nil {
		return err
	}
	for _, m := range r.modules {
		if _, err := r.git(r.root, "rev-parse", "--quiet", "--verify", "refs/tags/"+m.tag()); err == nil {
			fmt.Printf("%s exists\n", m.tag())
			continue
		}
		if _, err := r.git(r.root, "tag", "--annotate", "--message", m.path()+" "+m.version, m.tag(), r.commit); err != nil {
			return err
		}
		fmt.Printf("%s made\n", m.tag())
	}
	return nil
}

// remove takes away what was made, but for the tags and what they hold.
func (r *release) remove() {
	_ = os.RemoveAll(r.temp)
}

func (r *release) git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

package ignore

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"
)

// MaxFile is how much of an ignore file is read. No real one is larger.
const MaxFile = 1 << 20

// Tree reads the rules of directories. Nil ignores nothing.
type Tree struct {
	files  afero.Fs
	user   Config
	global []byte // of core.excludesFile
}

// NewTree reads rules from files, on top of those that the user has for every
// tree. Their own file is read from the disk, now.
func NewTree(files afero.Fs, user Config) *Tree {
	return &Tree{files: files, user: user, global: readUser(user.ExcludesFile)}
}

func readUser(name string) []byte {
	if name == "" {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // opened for reading only
	body, _ := io.ReadAll(io.LimitReader(f, MaxFile))
	return body
}

// Above returns the rules that hold in dir because of what lies above it, up to
// the top of its repository or of what can be seen. Whoever asks for something
// inside an ignored directory wants to see it, so that above such a directory
// no rule counts.
func (t *Tree) Above(dir string) *Rules {
	if t == nil {
		return nil
	}
	var above []string
	for at := dir; !t.repository(at); {
		up := filepath.Dir(at)
		if up == at || !t.visible(up) {
			break
		}
		at = up
		above = append(above, at)
	}
	if len(above) == 0 {
		return t.start(dir)
	}
	rules := t.start(above[len(above)-1])
	for i := len(above) - 1; i >= 0; i-- {
		rules = t.Enter(rules, above[i], t.repository(above[i]), t.read(filepath.Join(above[i], ".gitignore")))
		below := dir
		if i > 0 {
			below = above[i-1]
		}
		if rules.Ignored(above[i], filepath.Base(below), true) {
			rules = nil
		}
	}
	return rules
}

func (t *Tree) visible(dir string) bool {
	info, err := t.files.Stat(dir)
	return err == nil && info.IsDir()
}

func (t *Tree) repository(dir string) bool {
	_, err := t.files.Stat(filepath.Join(dir, ".git"))
	return err == nil
}

// Enter returns the rules that hold in dir: those of the directory above it and
// the text of its .gitignore. A repository starts afresh: what lies around it
// has no say in it.
func (t *Tree) Enter(above *Rules, dir string, repository bool, gitignore []byte) *Rules {
	switch {
	case t == nil:
		return nil
	case repository:
		above = t.start(dir)
	}
	return above.with(dir, gitignore, above.folds(t.user.IgnoreCase))
}

func (r *Rules) folds(otherwise bool) bool {
	if r == nil {
		return otherwise
	}
	return r.fold
}

// start returns the rules that hold in the top directory of a tree before its
// own .gitignore.
func (t *Tree) start(dir string) *Rules {
	config, global := t.user, t.global
	git := t.gitDir(filepath.Join(dir, ".git"))
	r := configReader{read: t.readFile, into: &config}
	r.home, _ = os.UserHomeDir()
	r.file(filepath.Join(git, "config"))
	if config.ExcludesFile != t.user.ExcludesFile {
		global = t.read(config.ExcludesFile) // it may say anything, so it reaches no further than a call does
	}
	rules := &Rules{base: "/", fold: config.IgnoreCase}
	return rules.with(dir, global, config.IgnoreCase).with(dir, t.read(filepath.Join(git, "info", "exclude")), config.IgnoreCase)
}

// gitDir finds the folder of a repository that its working trees share. In a
// linked one, and in a submodule, .git is a file that says where it is.
func (t *Tree) gitDir(git string) string {
	if target, ok := strings.CutPrefix(string(t.read(git)), "gitdir: "); ok {
		git = from(filepath.Dir(git), target)
	}
	if common := string(t.read(filepath.Join(git, "commondir"))); common != "" {
		git = from(git, common)
	}
	return git
}

func from(dir, path string) string {
	if path = strings.TrimRight(path, "\r\n"); filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// read returns the text of a file, or nothing if there is none to be read.
func (t *Tree) read(name string) []byte {
	body, _ := t.readFile(name)
	return body
}

func (t *Tree) readFile(name string) (body []byte, err error) {
	f, err := t.files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	return io.ReadAll(io.LimitReader(f, MaxFile))
}

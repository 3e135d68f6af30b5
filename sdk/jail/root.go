package jail

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// root is one directory of a jail.
type root struct {
	dir      string // without links
	alias    string // as it was configured
	outer    string // where a pinned directory lies in its root, for the deny list
	handle   *os.Root
	direct   *direct // the same directory, for plain names; nil where it is pinned
	readOnly bool
}

func openRoot(alias string) (*root, error) {
	if !filepath.IsAbs(alias) {
		return nil, errors.New("it is not an absolute path")
	}
	alias = filepath.Clean(alias)
	//nolint:forbidigo // the root itself is configured by the user and opened once, here
	dir, err := filepath.EvalSymlinks(alias)
	if err != nil {
		return nil, cause(err)
	}
	if kernelTree(dir) {
		return nil, errors.New("it shows the kernel, not files")
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, cause(err)
	}
	if !info.IsDir() {
		return nil, errors.New("it is not a directory")
	}
	handle, err := os.OpenRoot(dir)
	if err != nil {
		return nil, cause(err)
	}
	direct, err := openDirect(handle)
	if err != nil {
		return nil, errors.Join(cause(err), handle.Close())
	}
	return &root{dir: dir, alias: alias, handle: handle, direct: direct}, nil
}

func (r *root) close() error {
	if r.direct == nil {
		return r.handle.Close()
	}
	return errors.Join(r.direct.close(), r.handle.Close())
}

// within returns the path of name below the root's own spelling.
func (r *root) within(name string) (rel string, ok bool) { return below(r.dir, name) }

func (r *root) spells(name string) bool {
	_, own := below(r.dir, name)
	_, alias := below(r.alias, name)
	return own || r.alias != "" && alias
}

// denyPath is rel as the deny list sees it.
func (r *root) denyPath(rel string) string { return filepath.Join(r.outer, rel) }

// below returns the path from dir to name, component by component: /a/bc is not
// below /a/b.
func below(dir, name string) (rel string, ok bool) {
	if name == dir {
		return ".", true
	}
	if !strings.HasSuffix(dir, string(filepath.Separator)) {
		dir += string(filepath.Separator)
	}
	return strings.CutPrefix(name, dir)
}

// kernelTree reports whether name lies where files are windows into the kernel:
// reading there has effects and links there lead anywhere.
func kernelTree(name string) bool {
	for _, tree := range []string{"/proc", "/sys"} {
		if _, ok := below(tree, name); ok {
			return true
		}
	}
	return false
}

func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

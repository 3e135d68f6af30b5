package ignore

import (
	"os"
	"path/filepath"
	"strings"
)

// Config is what git's configuration says about ignoring.
type Config struct {
	// ExcludesFile is the path of core.excludesFile, or "".
	ExcludesFile string
	// IgnoreCase is core.ignoreCase.
	IgnoreCase bool
}

// UserConfig reads the configuration of the machine and of whoever runs the
// program: their rules hold in every tree. What cannot be read says nothing.
func UserConfig() Config {
	home, _ := os.UserHomeDir()
	xdg := os.Getenv("XDG_CONFIG_HOME")
	if xdg == "" && home != "" {
		xdg = filepath.Join(home, ".config")
	}
	c := Config{}
	if xdg != "" {
		c.ExcludesFile = filepath.Join(xdg, "git", "ignore")
	}
	r := configReader{home: home, read: os.ReadFile, into: &c}
	r.file("/etc/gitconfig")
	if xdg != "" {
		r.file(filepath.Join(xdg, "git", "config"))
	}
	if home != "" {
		r.file(filepath.Join(home, ".gitconfig"))
	}
	return c
}

// configReader reads git's configuration files, later ones over earlier ones.
// Conditional includes are left alone.
type configReader struct {
	home  string
	read  func(name string) ([]byte, error)
	into  *Config
	depth int
}

// deepest is how far files may include each other, as in git.
const deepest = 10

func (r *configReader) file(name string) {
	body, err := r.read(name)
	if err != nil || r.depth > deepest {
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	section := ""
	for line := range strings.Lines(strings.ReplaceAll(string(body), "\\\n", "")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			head, rest, _ := strings.Cut(line[1:], "]")
			section, line = strings.ToLower(strings.TrimSpace(head)), strings.TrimSpace(rest)
		}
		key, value, given := strings.Cut(line, "=")
		r.set(section+"."+strings.ToLower(strings.TrimSpace(key)), configValue(value), given, filepath.Dir(name))
	}
}

func (r *configReader) set(key, value string, given bool, dir string) {
	switch key {
	case "core.excludesfile":
		r.into.ExcludesFile = r.path(value, dir)
	case "core.ignorecase":
		switch strings.ToLower(value) {
		case "true", "yes", "on", "1":
			r.into.IgnoreCase = true
		default:
			r.into.IgnoreCase = !given
		}
	case "include.path":
		r.file(r.path(value, dir))
	}
}

// path expands what a configuration file says about a file.
func (r *configReader) path(value, dir string) string {
	if rest, ok := strings.CutPrefix(value, "~/"); ok && r.home != "" {
		return filepath.Join(r.home, rest)
	}
	if value != "" && !filepath.IsAbs(value) {
		return filepath.Join(dir, value)
	}
	return value
}

// configValue takes quotes, escapes and the comment from a value.
func configValue(raw string) string {
	var out strings.Builder
	quoted := false
	raw = strings.TrimSpace(raw)
	kept := 0 // up to where blanks count
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			quoted = !quoted
			kept = out.Len()
			continue
		case c == '\\' && i+1 < len(raw):
			i++
			out.WriteByte(unescaped(raw[i]))
		case !quoted && (c == '#' || c == ';'):
			return out.String()[:kept]
		case !quoted && (c == ' ' || c == '\t'):
			out.WriteByte(c)
			continue
		default:
			out.WriteByte(c)
		}
		kept = out.Len()
	}
	return out.String()[:kept]
}

func unescaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	}
	return c
}

package conformance

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agentco/agent/conformance/internal/scenario"
)

// place is the surroundings of one process of the provider.
type place struct {
	dir string
	// home is where the process starts, work what calls have for their working directory. They differ, so that a
	// relative path which resolves against the wrong one is noticed.
	home, work string
	// temp is TMPDIR, and where sockets go.
	temp      string
	words     *lastWords
	situation *scenario.Situation
}

// place makes new surroundings and lays the scenario's files into the working folder.
func (s *subject) place() (*place, error) {
	dir := filepath.Join(s.base, fmt.Sprint(s.places.Add(1)))
	p := &place{dir: dir, home: filepath.Join(dir, "home"), work: filepath.Join(dir, "work"), temp: filepath.Join(dir, "t"), words: &lastWords{}}
	for _, path := range []string{p.home, p.work, p.temp} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return nil, err
		}
	}
	var err error
	if p.situation, err = s.scenario.In(p.work); err != nil {
		return nil, err
	}
	for _, f := range p.situation.Files {
		if err := lay(p.work, f); err != nil {
			return nil, fmt.Errorf("lay %s into the working folder: %w", f.Path, err)
		}
	}
	for _, words := range p.situation.Setup {
		if err := s.setUp(p, words); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func lay(dir string, f scenario.File) error {
	path := filepath.Join(dir, f.Path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(f.Content), f.Mode); err != nil {
		return err
	}
	return os.Chmod(path, f.Mode)
}

// setUp runs one command of the scenario in the working folder.
func (s *subject) setUp(p *place, words []string) error {
	ctx, cancel := context.WithTimeout(s.ctx, s.timeout())
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = p.work
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("setup %s: %w: %s", strings.Join(words, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

func (p *place) environment() (env []string) {
	for _, name := range slices.Sorted(maps.Keys(p.situation.Environment)) {
		env = append(env, name+"="+p.situation.Environment[name])
	}
	return env
}

// leftovers are the files below the temporary folder that keep does not spare.
func (p *place) leftovers(keep func(path string) bool) (left []string) {
	_ = filepath.WalkDir(p.temp, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !keep(path) {
			name, _ := filepath.Rel(p.temp, path)
			left = append(left, name)
		}
		return nil
	})
	return left
}

func makeWritable(dir string) {
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
}

// lockedWriter lets several processes print to one place.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// Write writes b whole.
func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w == nil {
		return len(b), nil
	}
	return l.w.Write(b)
}

package main

import (
	"bufio"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// repository is what the path of every module begins with.
const repository = "github.com/agentco/agent/"

// moduleAt is a module and the version that it gets.
type moduleAt struct {
	// dir is its folder, from the root of the repository.
	dir     string
	version string
}

func (m moduleAt) path() string { return repository + m.dir }

// tag is how Go finds a module that is not at the root of its repository.
func (m moduleAt) tag() string { return m.dir + "/" + m.version }

func (m moduleAt) at() module.Version { return module.Version{Path: m.path(), Version: m.version} }

// read reads the versions: a folder and a version a line, a module after those that it requires.
func read(file string) ([]moduleAt, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var modules []moduleAt
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 2 || path.Clean(fields[0]) != fields[0] || semver.Canonical(fields[1]) != fields[1] {
			return nil, fmt.Errorf("%s:%d: want a folder and a version such as v1.2.3, not %q", file, n, lines.Text())
		}
		if err := module.CheckPathMajor(fields[1], pathMajor(fields[0])); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		modules = append(modules, moduleAt{dir: fields[0], version: fields[1]})
	}
	return modules, lines.Err()
}

func pathMajor(dir string) string {
	_, major, _ := module.SplitPathVersion(repository + dir)
	return major
}

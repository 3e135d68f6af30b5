// Package proc reads what Linux says of processes: who descends from whom, what they use, whether they live.
package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ID is a process by its pid and the time of its start, so that a pid that is given anew is not mistaken for it.
type ID struct {
	PID   int
	start string
}

// stat is a line of /proc/PID/stat.
type stat struct {
	name, start string
	state       byte
	parent      int
	ticks       int64
}

func read(pid int) (s stat, ok bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return s, false
	}
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	f := strings.Fields(string(b[end+1:]))
	if open < 0 || end < open || len(f) < 20 {
		return s, false
	}
	s = stat{name: string(b[open+1 : end]), state: f[0][0], start: f[19]}
	s.parent, _ = strconv.Atoi(f[1])
	for _, used := range f[11:15] {
		n, _ := strconv.ParseInt(used, 10, 64)
		s.ticks += n
	}
	return s, true
}

// Alive reports whether a process runs still. A zombie does not.
func (p ID) Alive() bool {
	s, ok := read(p.PID)
	return ok && s.start == p.start && s.state != 'Z' && s.state != 'X'
}

// Kill ends a process, if it is still this one.
func (p ID) Kill() {
	if p.Alive() {
		_ = syscall.Kill(p.PID, syscall.SIGKILL)
	}
}

func pids() (all []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// Tree is a process with all that descend from it.
func Tree(root int) []ID {
	below := map[int][]ID{}
	for _, pid := range pids() {
		if s, ok := read(pid); ok {
			below[s.parent] = append(below[s.parent], ID{pid, s.start})
		}
	}
	s, ok := read(root)
	if !ok {
		return nil
	}
	tree := []ID{{root, s.start}}
	for i := 0; i < len(tree); i++ {
		tree = append(tree, below[tree[i].PID]...)
	}
	return tree
}

// Marked are the living processes whose command line holds a text, other than this one.
func Marked(mark string) (found []ID) {
	for _, pid := range pids() {
		if pid == os.Getpid() || !strings.Contains(CommandLine(pid), mark) {
			continue
		}
		if s, ok := read(pid); ok && s.state != 'Z' && s.state != 'X' {
			found = append(found, ID{pid, s.start})
		}
	}
	return found
}

// CommandLine is the command line of a process, with blanks between its words.
func CommandLine(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(bytes.ReplaceAll(b, []byte{0}, []byte{' '}))
}

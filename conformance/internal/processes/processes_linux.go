package processes

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Supported reports whether processes can be told apart on this system.
const Supported = true

// entry is one process as /proc has it.
type entry struct{ pid, parent, group int }

// Related gives the processes that belong to a provider, sorted: root and its descendants, its process group, and every
// process that a folder of its own is known to, as working directory or from the environment. Zombies are gone.
func Related(root int, folder string) []int {
	return family(func(e entry) bool { return e.pid == root || e.group == root || touches(e.pid, folder) })
}

// Touching gives the processes that know a folder, as working directory or from the environment, and their descendants.
func Touching(folder string) []int {
	return family(func(e entry) bool { return touches(e.pid, folder) })
}

// family gives the processes that are chosen, and their descendants.
func family(chosen func(entry) bool) (pids []int) {
	all := list()
	related := map[int]bool{}
	for _, e := range all {
		if chosen(e) {
			related[e.pid] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for _, e := range all {
			if related[e.parent] && !related[e.pid] {
				related[e.pid], grown = true, true
			}
		}
	}
	for pid := range related {
		if pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// Children gives the processes that one has started, sorted.
func Children(parent int) (pids []int) {
	for _, e := range list() {
		if e.parent == parent {
			pids = append(pids, e.pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// Name is the command line of a process, as far as it is still there.
func Name(pid int) string {
	line, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	words := strings.Fields(strings.ReplaceAll(string(line), "\x00", " "))
	if len(words) > 4 {
		words = append(words[:4], "…")
	}
	return strings.Join(words, " ")
}

func list() (all []entry) {
	names, _ := os.ReadDir("/proc")
	for _, name := range names {
		pid, err := strconv.Atoi(name.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", name.Name(), "stat"))
		if err != nil {
			continue
		}
		// The name stands in parentheses and may hold anything, so fields are counted from its end.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 3 || fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		group, _ := strconv.Atoi(fields[2])
		all = append(all, entry{pid, parent, group})
	}
	return all
}

func touches(pid int, folder string) bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	if cwd, err := os.Readlink(filepath.Join(dir, "cwd")); err == nil && (cwd == folder || strings.HasPrefix(cwd, folder+"/")) {
		return true
	}
	environment, err := os.ReadFile(filepath.Join(dir, "environ"))
	return err == nil && bytes.Contains(environment, []byte(folder+"/"))
}

package serve

import (
	"os"
	"strconv"
)

// maxVisits ends a walk through a tree that grows as fast as it is walked.
const maxVisits = 20000

// Walk calls visit for every process below root, parents before their children. What is born meanwhile may be missed: a
// caller that wants all of them gone walks again.
func Walk(root int, visit func(pid int)) {
	found := ChildrenOf(root)
	for i := 0; i < len(found) && i < maxVisits; i++ {
		visit(found[i])
		found = append(found, ChildrenOf(found[i])...)
	}
}

// ChildrenOf finds the children of a process. Asking its threads is cheap, but needs a system built with
// CONFIG_PROC_CHILDREN; else the parent of every process there is is read.
func ChildrenOf(pid int) []int {
	if _, err := os.Stat("/proc/thread-self/children"); err != nil {
		return childrenByScan(pid)
	}
	tasks := "/proc/" + strconv.Itoa(pid) + "/task/"
	var found []int
	for _, thread := range numbersIn(tasks) {
		text, err := os.ReadFile(tasks + strconv.Itoa(thread) + "/children")
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range words(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				found = append(found, child)
			}
		}
	}
	return found
}

func childrenByScan(parent int) []int {
	var found []int
	for _, pid := range numbersIn("/proc") {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			continue // the process has ended
		}
		if of, ok := parentIn(string(stat)); ok && of == parent {
			found = append(found, pid)
		}
	}
	return found
}

// numbersIn lists the entries of a directory that are numbers: processes, or threads of one.
func numbersIn(dir string) []int {
	entries, _ := os.ReadDir(dir)
	var found []int
	for _, entry := range entries {
		if n, err := strconv.Atoi(entry.Name()); err == nil {
			found = append(found, n)
		}
	}
	return found
}

// parentIn reads the fourth field of a stat file. The second is the name of the program in parentheses, which may itself
// hold spaces and parentheses.
func parentIn(stat string) (int, bool) {
	end := len(stat)
	for end > 0 && stat[end-1] != ')' {
		end--
	}
	fields := words(stat[end:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(fields[1])
	return parent, err == nil
}

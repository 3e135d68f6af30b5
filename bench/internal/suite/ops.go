// Package suite measures all subjects on the same operations: for each operation they take turns, in several rounds, so that
// whatever else happens on the machine happens to all of them.
package suite

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentco/agent/bench/internal/inputs"
	"github.com/agentco/agent/bench/internal/subject"
)

// op is an operation as the suite asks for it.
type op struct {
	name    string
	n       int // repetitions of each subject in a whole run
	workers int
	limit   time.Duration // of a subject's part, in a whole run
	vars    subject.Vars
	// file is copied anew for each subject, with a mark that its edits change; empty for none.
	file string
	// repo is copied once for each subject, which may change it; empty for none.
	repo string
	// streams says that what comes before the answer counts.
	streams bool
	// bytes are those of one call's payload, and count how many things a whole answer has.
	bytes, count int
	// whole runs only, and why not
	whole bool
}

// operations are those that are timed as they stand, in their order. content is what write1m writes.
func operations(fx, content string) []op {
	at := func(name string) string { return filepath.Join(fx, name) }
	path := func(name string) subject.Vars { return subject.Vars{"path": at(name)} }
	dir := func(name string) subject.Vars {
		return subject.Vars{"dir": at(name), "needle": inputs.Needle, "suffix": ""}
	}
	second := time.Second
	ops := []op{
		{name: "noop", n: 2000, limit: 4 * second},
		{name: "read4k", n: 1500, limit: 8 * second, vars: path("files/4k.txt"), bytes: 4 << 10},
		{name: "read4k_c8", n: 1500, workers: 8, limit: 8 * second, vars: path("files/4k.txt"), bytes: 4 << 10},
		{name: "read1m", n: 150, limit: 10 * second, vars: path("files/1m.txt"), bytes: 1 << 20},
		{name: "line64m", n: 30, limit: 8 * second, vars: path("files/64m.txt")},
		{name: "count64m", n: 30, limit: 8 * second, vars: path("files/64m.txt").With("lines", "500000")},
		{name: "line2g", n: 5, limit: 20 * second, vars: path("files/2g.txt"), whole: true},
		{name: "count2g", n: 5, limit: 20 * second, vars: path("files/2g.txt").With("lines", "10000000"), whole: true},
		{name: "edit4k", n: 150, limit: 8 * second, file: at("files/4k.txt")},
		{name: "replace4k", n: 150, limit: 8 * second, file: at("files/4k.txt")},
		{name: "edit1m", n: 60, limit: 8 * second, file: at("files/1m.txt")},
		{name: "replace1m", n: 60, limit: 8 * second, file: at("files/1m.txt")},
		{name: "undoable1m", n: 60, limit: 8 * second, file: at("files/1m.txt")},
		{name: "write1m", n: 60, limit: 8 * second, file: at("files/1m.txt"), vars: subject.Vars{"content": content}, bytes: 1 << 20},
		{name: "list10k", n: 30, limit: 6 * second, vars: dir("flat"), count: 10000},
		{name: "look10k", n: 30, limit: 6 * second, vars: dir("flat")},
		{name: "tree10k", n: 20, limit: 6 * second, vars: dir("tree"), count: 9082},
		{name: "glob1k", n: 30, limit: 3 * second, vars: dir("src1k"), count: 20},
		{name: "glob10k", n: 20, limit: 4 * second, vars: dir("src10k"), count: 200},
		{name: "glob100k", n: 9, limit: 12 * second, vars: dir("src100k"), count: 2000},
		{name: "grep1k", n: 30, limit: 3 * second, vars: dir("src1k"), count: 4},
		{name: "grep10k", n: 15, limit: 6 * second, vars: dir("src10k"), count: 4},
		{name: "grep100k", n: 6, limit: 15 * second, vars: dir("src100k"), count: 4},
		{name: "true", n: 150, limit: 6 * second, vars: subject.Vars{"cmd": "true"}},
		{name: "sandboxed", n: 90, limit: 6 * second, vars: subject.Vars{"cmd": "true"}},
		{name: "ttfb", n: 12, limit: 12 * second, vars: subject.Vars{"cmd": "echo h''i-there; sleep 0.3", "first": "hi-there"}, streams: true},
		{name: "describe", n: 30, limit: 3 * second},
		{name: "status", n: 20, limit: 3 * second},
		{name: "tag", n: 60, limit: 4 * second, repo: at("repo"), vars: subject.Vars{"tag": "bench-${i}"}},
		{name: "release", n: 30, limit: 10 * second, repo: at("repo")},
		{name: "release_commit", n: 30, limit: 10 * second, repo: at("repo")},
		{name: "log_all", n: 9, limit: 5 * second},
		{name: "log_new", n: 30, limit: 3 * second},
		{name: "changelog", n: 60, limit: 4 * second},
		{name: "next_version", n: 30, limit: 10 * second},
		{name: "changelog_draft", n: 30, limit: 10 * second},
		{name: "draft_all", n: 9, limit: 15 * second},
		{name: "changelog_all", n: 3, limit: 20 * second, whole: true},
	}
	for _, mib := range []int{1, 16, 100, 256, 1024} {
		size, from, n := mib<<20, at("files/100m.txt"), 6
		switch {
		case mib == 100:
			size = 100e6 // the figure that others state
		case mib > 100:
			from, n = at("files/2g.txt"), 2 // of them only the slope is of interest
		}
		ops = append(ops, op{name: fmt.Sprintf("print%dmb", mib), n: n, limit: 12 * second, streams: true, bytes: size, whole: mib == 16 || mib > 100,
			vars: subject.Vars{"cmd": fmt.Sprintf("head -c %d %s", size, from)}})
	}
	for _, workers := range []int{1, 2, 4, 8, 16, 32, 64} {
		ops = append(ops, op{name: fmt.Sprintf("crowd%d", workers), n: 800, workers: workers, limit: 3 * second, vars: path("files/4k.txt"), bytes: 4 << 10,
			whole: workers != 1 && workers != 8 && workers != 64})
	}
	for i := range ops {
		if strings.HasPrefix(ops[i].name, "glob") {
			ops[i].vars["suffix"] = ".go"
		}
	}
	return ops
}

// asOp is what a subject's table calls an operation.
func asOp(name string) string {
	if strings.HasPrefix(name, "crowd") {
		return "read4k"
	}
	return name
}

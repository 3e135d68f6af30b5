package summary

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// maxPackages bounds what is remembered of an endless output.
const maxPackages = 100_000

// ending is how a package ended.
type ending int8

const (
	passed   ending = iota + 1
	idle            // it passed, and there was no test to run
	untested        // it has no tests
	failed          // a test of it failed
	unbuilt         // it was not even tested
)

// goTest is the result of go test by package. When a package is tested again, the later
// result counts.
type goTest struct {
	packages map[string]ending
	panicked string // the first panic
	fault    string // the first complaint about a package that could not be built
}

func (g *goTest) line(line []byte) bool {
	if line[0] == '{' {
		return g.event(line)
	}
	mark, rest, found := bytes.Cut(line, []byte("\t"))
	if !found {
		return false
	}
	name, rest, _ := bytes.Cut(rest, []byte("\t"))
	var end ending
	switch string(mark) {
	case "FAIL":
		end = failed
		if before, note, noted := bytes.Cut(name, []byte(" [")); noted { // [build failed], [setup failed]
			name = before
			if bytes.HasPrefix(note, []byte("build failed]")) || bytes.HasPrefix(note, []byte("setup failed]")) {
				end = unbuilt
			}
		}
	case "ok  ":
		end = passed
		if bytes.Contains(rest, []byte("[no tests to run]")) {
			end = idle
		}
	case "?   ":
		if !bytes.Contains(rest, []byte("[no test files]")) {
			return false
		}
		end = untested
	default:
		return false
	}
	g.set(string(bytes.TrimRight(name, " \r")), end)
	return true
}

// event reads a line of go test -json. The end of a package names no test.
func (g *goTest) event(line []byte) bool {
	if !bytes.Contains(line, []byte(`"Action":"`)) {
		return false // any other JSON, of which there may be much
	}
	var e struct{ Action, Package, Test, Output, FailedBuild string }
	if err := json.Unmarshal(line, &e); err != nil {
		return false
	}
	if e.Action == "output" || e.Action == "build-output" {
		g.reason([]byte(e.Output))
		return false
	}
	if e.Package == "" || e.Test != "" {
		return false
	}
	switch {
	case e.Action == "pass":
		g.set(e.Package, passed)
	case e.Action == "skip":
		g.set(e.Package, untested)
	case e.Action == "fail" && e.FailedBuild != "":
		g.set(e.Package, unbuilt)
	case e.Action == "fail":
		g.set(e.Package, failed)
	default:
		return false
	}
	return true
}

// reason remembers why a package may fail.
func (g *goTest) reason(line []byte) {
	switch {
	case g.panicked == "" && (bytes.HasPrefix(line, []byte("panic: ")) || bytes.HasPrefix(line, []byte("fatal error: "))):
		text, _, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" [recovered"))
		g.panicked = string(text)
	case g.fault == "" && compilerFault(line):
		g.fault = string(bytes.TrimSpace(line))
	}
}

// compilerFault reports whether a line reads "file.go:7:2: ...".
func compilerFault(line []byte) bool {
	file, rest, found := bytes.Cut(line, []byte(".go:"))
	return found && len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' && !bytes.ContainsAny(file, " \t") && bytes.Contains(rest, []byte(": "))
}

func (g *goTest) set(name string, end ending) {
	if g.packages == nil {
		g.packages = map[string]ending{}
	}
	if len(g.packages) < maxPackages {
		g.packages[name] = end
	}
}

func (g *goTest) verdict() (string, bool) {
	n := map[ending]int{}
	for _, end := range g.packages {
		n[end]++
	}
	switch all := n[failed] + n[unbuilt]; {
	case all > 0 && n[failed] == 0 && g.fault != "":
		return count(all, "package") + " failed to build: " + g.fault, true
	case all > 0 && n[failed] == 0:
		return count(all, "package") + " could not be tested", true
	case all > 0 && n[unbuilt] > 0:
		return fmt.Sprintf("%s failed, %d of them to build", count(all, "package"), n[unbuilt]), true
	case all > 0 && g.panicked != "":
		return fmt.Sprintf("%s failed (%s)", count(all, "package"), g.panicked), true
	case all > 0:
		return count(all, "package") + " failed", true
	case n[passed] == 0:
		return "no tests were run", false
	default:
		return count(n[passed]+n[idle], "package") + " passed", false
	}
}

package summary

import (
	"bytes"
	"encoding/json"
)

// maxPackages bounds what is remembered of an endless output.
const maxPackages = 100_000

// goTest is the result of go test by package: true for passed. When a package is tested
// again, the later result counts.
type goTest map[string]bool

func (g *goTest) line(line []byte) bool {
	if line[0] == '{' {
		return g.event(line)
	}
	rest, passed := bytes.CutPrefix(line, []byte("ok  \t"))
	if !passed {
		var failed bool
		if rest, failed = bytes.CutPrefix(line, []byte("FAIL\t")); !failed {
			return false
		}
	}
	name := rest
	if end := bytes.IndexAny(rest, " \t\r"); end >= 0 {
		name = rest[:end]
	}
	g.set(string(name), passed)
	return true
}

// event reads a line of go test -json. The end of a package names no test.
func (g *goTest) event(line []byte) bool {
	if !bytes.Contains(line, []byte(`"Action":"`)) {
		return false // any other JSON, of which there may be much
	}
	var e struct{ Action, Package, Test string }
	if err := json.Unmarshal(line, &e); err != nil || e.Package == "" || e.Test != "" {
		return false
	}
	if e.Action != "pass" && e.Action != "fail" {
		return false
	}
	g.set(e.Package, e.Action == "pass")
	return true
}

func (g *goTest) set(name string, passed bool) {
	if *g == nil {
		*g = goTest{}
	}
	if len(*g) < maxPackages {
		(*g)[name] = passed
	}
}

func (g *goTest) verdict() (string, bool) {
	failed := 0
	for _, passed := range *g {
		if !passed {
			failed++
		}
	}
	if failed > 0 {
		return count(failed, "package") + " failed", true
	}
	return count(len(*g), "package") + " passed", false
}

package summary

import "bytes"

// maxPackages bounds what is remembered of an endless output.
const maxPackages = 100_000

// goTest is the result of go test by package: true for passed. When a package is tested
// again, the later result counts.
type goTest map[string]bool

func (g *goTest) line(line []byte) bool {
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
	if *g == nil {
		*g = goTest{}
	}
	if len(*g) < maxPackages {
		(*g)[string(name)] = passed
	}
	return true
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

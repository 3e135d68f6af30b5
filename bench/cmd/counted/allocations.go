package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// benchmarks are those whose allocations are held, by module and package. Enough repetitions that what is made once does
// not show.
var benchmarks = []struct{ module, pkg, pattern, times string }{
	{"kernel", "./internal/engine", "^BenchmarkInvoke$/one_after_another", "1000x"},
	{"kernel", "./internal/gate", "^BenchmarkReview$", "1000x"},
	{"kernel", "./internal/paint", "^Benchmark(Tree|Output)$", "300x"},
	{"kernel", "./internal/session/journal", "^BenchmarkCall$", "500x"},
	{"kernel", "./internal/mcp", "^BenchmarkCall$/(server|engine)/down/4KiB", "500x"},
}

// allocations runs the benchmarks.
func allocations(ctx context.Context, repo string) (counts, error) {
	all := counts{}
	for _, b := range benchmarks {
		cmd := exec.CommandContext(ctx, "go", "test", b.pkg, "-run", "^$", "-bench", b.pattern, "-benchtime", b.times, "-benchmem")
		cmd.Dir = filepath.Join(repo, b.module)
		out, err := cmd.CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("benchmarks of %s: %w\n%s", b.pkg, err, out)
		}
		found := parse(out)
		if len(found) == 0 {
			return nil, fmt.Errorf("there is no benchmark %s in %s", b.pattern, b.pkg)
		}
		for name, n := range found {
			all["allocations of "+strings.TrimPrefix(b.pkg, "./internal/")+" "+name] = n
		}
	}
	return all, nil
}

// processors is the end of a benchmark's name: on how many it ran.
var processors = regexp.MustCompile(`-\d+$`)

// parse takes the allocations of a call out of the output of benchmarks.
func parse(out []byte) counts {
	found := counts{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		for i := 2; i < len(f); i++ {
			if n, err := strconv.ParseFloat(f[i-1], 64); err == nil && f[i] == "allocs/op" {
				found[processors.ReplaceAllString(strings.TrimPrefix(f[0], "Benchmark"), "")] = n
			}
		}
	}
	return found
}

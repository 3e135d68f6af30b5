// Command counted holds the work that a call takes to recorded limits: allocations, system calls and bytes on the wire. It
// never looks at a clock, so that it says the same on a busy machine.
//
//	counted [-repo ROOT] [-limits FILE] [-update]
//
// -update records what was counted as the new limits; the change is then seen in review. What a machine cannot count is
// skipped by name.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	repo := flag.String("repo", ".", "root of the `repository`")
	limits := flag.String("limits", "bench/counted.json", "`file` of the limits, below the root")
	update := flag.Bool("update", false, "record what was counted")
	flag.Parse()
	if err := run(ctx, *repo, filepath.Join(*repo, *limits), *update); err != nil {
		fmt.Fprintln(os.Stderr, "counted:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, repo, file string, update bool) error {
	counts, err := allocations(ctx, repo)
	if err != nil {
		return err
	}
	calls, skipped, err := countCalls(ctx, repo)
	if err != nil {
		return err
	}
	for name, n := range calls {
		counts[name] = n
	}
	for name, why := range skipped {
		fmt.Printf("skipped: %s: %s\n", name, why)
	}
	limits, err := readLimits(file)
	if err != nil {
		return err
	}
	if update {
		return limits.record(counts, skipped).write(file)
	}
	return limits.hold(counts, skipped, os.Stdout)
}

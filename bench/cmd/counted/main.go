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
	"maps"
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
	limits, err := readLimits(file)
	if err != nil {
		return err
	}
	all, skipped, err := count(ctx, repo)
	if err != nil {
		return err
	}
	// A busy machine has work done in more pieces, never in fewer: what is too much must be so each time.
	for more := 2; more > 0 && !update && limits.exceeded(all); more-- {
		again, _, err := count(ctx, repo)
		if err != nil {
			return err
		}
		all.lower(again)
	}
	for name, why := range skipped {
		fmt.Printf("skipped: %s: %s\n", name, why)
	}
	if update {
		return limits.record(all, skipped).write(file)
	}
	return limits.hold(all, skipped, os.Stdout)
}

// count counts everything once, and says what this machine cannot count.
func count(ctx context.Context, repo string) (all counts, skipped map[string]string, err error) {
	if all, err = allocations(ctx, repo); err != nil {
		return nil, nil, err
	}
	calls, skipped, err := countCalls(ctx, repo)
	maps.Copy(all, calls)
	return all, skipped, err
}

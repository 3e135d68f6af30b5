// Command bench measures this project beside what a user would otherwise pick, on the same inputs in one run.
//
//	bench [-scale 1] [-ops a,b] [-peers a,b] [-json FILE] [-out FILE]
//
// Everything that it makes is in one folder outside the repository: binaries, inputs, peers from registries. A peer that
// cannot be had is skipped by name. As root it runs in a network namespace of its own, so that no peer reaches out or waits
// for it. The rows are kept after each operation: a run that is ended before its time reports what it has.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/agentco/agent/bench/internal/inputs"
	"github.com/agentco/agent/bench/internal/prepare"
	"github.com/agentco/agent/bench/internal/report"
	"github.com/agentco/agent/bench/internal/row"
	"github.com/agentco/agent/bench/internal/subject"
	"github.com/agentco/agent/bench/internal/suite"
)

//go:embed peers.json
var table []byte

type options struct {
	place    prepare.Place
	suite    suite.Suite
	json     string
	measured bool // the preparation is done: this is the process in the namespace
	show     string
	out      string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := read(os.Args[1:])
	if err == nil {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func read(args []string) (*options, error) {
	o := &options{}
	say := func(text string) { fmt.Fprintln(os.Stderr, text) }
	o.place.Say, o.suite.Say = say, say
	f := flag.NewFlagSet("bench", flag.ExitOnError)
	f.StringVar(&o.place.Root, "dir", "", "`folder` of binaries, inputs and peers (default: agent-bench in the user's cache)")
	f.StringVar(&o.place.Repo, "repo", ".", "root of this `repository`")
	f.Float64Var(&o.suite.Scale, "scale", 1, "`factor` of the repetitions; below 0.5 is a quick run, with few peers")
	f.StringVar(&o.json, "json", "", "`file` for the rows (default: rows.json in the folder)")
	f.BoolVar(&o.measured, "measure", false, "measure only: everything is there")
	f.StringVar(&o.show, "show", "", "write the report of a `file` of rows, and measure nothing")
	f.StringVar(&o.out, "out", "", "Markdown `file` whose part below the marker is replaced by the report (default: stdout)")
	ops := f.String("ops", "", "measure these `operations` only, by commas: names, or patterns such as print*")
	peers := f.String("peers", "", "measure these `peers` only, by commas, beside the floors")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.suite.Only, o.suite.PeerNames = split(*ops), split(*peers)
	if o.place.Root == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		o.place.Root = filepath.Join(cache, "agent-bench")
	}
	if o.json == "" {
		o.json = filepath.Join(o.place.Root, "rows.json")
	}
	var err error
	if o.suite.Peers, err = subject.ReadTable(table); err != nil {
		return nil, err
	}
	o.suite.Vars = o.place.Vars()
	return o, nil
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

func run(ctx context.Context, o *options) error {
	if o.show != "" {
		rows, err := row.Load(o.show)
		if err != nil {
			return err
		}
		return write(o.out, rows)
	}
	if err := o.suite.Check(); err != nil {
		return err
	}
	if o.out != "" {
		if err := report.Marked(o.out); err != nil {
			return err
		}
	}
	if !o.measured {
		if err := o.place.All(ctx, o.wanted()); err != nil {
			return err
		}
		if os.Geteuid() == 0 {
			return apart(ctx)
		}
	}
	if err := o.place.Remember(ctx, o.suite.Environment()); err != nil {
		return err
	}
	return measure(ctx, o)
}

// wanted is what the run needs of registries and inputs.
func (o *options) wanted() prepare.Wanted {
	w := prepare.Wanted{Inputs: inputs.Want{Huge: o.suite.Huge()}}
	for _, p := range o.suite.Peers {
		named := slices.Contains(o.suite.PeerNames, p.Name)
		if len(o.suite.PeerNames) > 0 && !named || o.suite.Quick() && !p.Quick && !named {
			continue
		}
		if p.Package != "" && !slices.Contains(w.Packages, p.Package) {
			w.Packages = append(w.Packages, p.Package)
		}
		if p.Module != "" {
			w.Modules = append(w.Modules, p.Module)
		}
	}
	return w
}

func measure(ctx context.Context, o *options) error {
	o.suite.Refused = o.place.Refused()
	o.suite.Before, _ = row.Load(o.json) // there may be none
	var unkept error
	o.suite.Keep = func(rows *row.Set) {
		rows.Binaries, rows.Bounds = o.place.Sizes(), report.Bounds(rows)
		unkept = rows.Save(o.json)
	}
	rows, failed := o.suite.Run(ctx)
	if len(rows.Rows) == 0 {
		return errors.Join(failed, unkept)
	}
	return errors.Join(failed, unkept, write(o.out, rows))
}

// write writes the report to a file, below its marker, or to stdout.
func write(file string, rows *row.Set) error {
	if file != "" {
		return report.Refresh(file, rows)
	}
	report.Write(os.Stdout, rows)
	return nil
}

package cli

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/agentco/agent/conformance"
)

//go:embed help.txt
var help string

var errHelp = errors.New("help was asked for")

// flags are a command line that was understood.
type flags struct {
	options             conformance.Options
	command             []string
	list, json, verbose bool
	junit               string
}

// parse reads a command line. Flags end at the first word that is none: the rest is the provider's.
func parse(args []string) (flags, error) {
	var f flags
	set := flag.NewFlagSet("conformance", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&f.options.Scenario, "scenario", "", "")
	set.StringVar(&f.options.Config, "config", "", "")
	set.BoolVar(&f.options.AllowMutations, "allow-mutations", false, "")
	set.DurationVar(&f.options.Timeout, "timeout", 10*time.Second, "")
	set.Func("rule", "", func(glob string) error {
		f.options.Rules = append(f.options.Rules, glob)
		return nil
	})
	set.BoolVar(&f.list, "list", false, "")
	set.BoolVar(&f.json, "json", false, "")
	set.StringVar(&f.junit, "junit", "", "")
	set.BoolVar(&f.verbose, "v", false, "")
	if err := set.Parse(args); errors.Is(err, flag.ErrHelp) {
		return f, errHelp
	} else if err != nil {
		return f, err
	}
	f.command = set.Args()
	switch {
	case f.options.Timeout <= 0:
		return f, fmt.Errorf("--timeout is %s; give a time above zero, such as 10s", f.options.Timeout)
	case f.list && len(f.command) > 0:
		return f, errors.New("--list starts no provider; leave the command away")
	case !f.list && len(f.command) == 0:
		return f, errors.New("name the provider to try, for example ./provider-hello")
	}
	return f, nil
}

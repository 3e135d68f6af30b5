package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/session"
)

func (a *app) sessionPruneCommand() *cobra.Command {
	var flags pruneFlags
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Delete old sessions",
		Long: `Delete sessions for good: those older than an age, those that are not among the newest, or those that are both.
Without --yes it only says which these are. One that runs is never deleted.`,
		Example: `  agent session prune --older-than 30d
  agent session prune --older-than 30d --keep 100 --yes
  agent session prune --keep 0 --yes --json`,
		Args: noMoreThan(0),
		RunE: func(*cobra.Command, []string) error { return a.sessionPrune(flags) },
	}
	cmd.Flags().StringVar(&flags.olderThan, "older-than", "", "delete those that began longer ago than this `time`, such as 30d or 12h")
	cmd.Flags().IntVar(&flags.keep, "keep", -1, "keep the newest `number`, however old they are")
	cmd.Flags().BoolVarP(&flags.yes, "yes", "y", false, "delete them")
	return cmd
}

type pruneFlags struct {
	olderThan string
	keep      int
	yes       bool
}

func (a *app) sessionPrune(flags pruneFlags) error {
	if flags.olderThan == "" && flags.keep < 0 {
		return usagef("say what is old: --older-than 30d, --keep 100, or both")
	}
	age, err := parseAge(flags.olderThan)
	if err != nil {
		return err
	}
	folder := sessionsFolder()
	all, err := folder.List(a.ctx)
	if err != nil {
		return err
	}
	old := session.Old(all, age, max(flags.keep, 0), time.Now())
	var size int64
	ids := []string{}
	var problems []error
	for _, s := range old {
		if flags.yes {
			switch err := folder.Remove(s.ID); {
			case errors.Is(err, session.ErrRunning):
				continue
			case err != nil:
				problems = append(problems, err)
				continue
			}
		}
		ids, size = append(ids, s.ID), size+s.Size
	}
	if a.flags.json {
		a.writeJSON(map[string]any{"deleted": flags.yes, "sessions": ids, "bytes": size, "kept": len(all) - len(ids)})
		return errors.Join(problems...)
	}
	if !flags.yes {
		for _, s := range old {
			a.printf("%s\n", sessionLine(s))
		}
	}
	verb := "would be deleted; --yes deletes them"
	switch {
	case flags.yes:
		verb = "deleted"
	case len(ids) == 0:
		verb = "would be deleted"
	}
	a.printf("%s (%s) %s, %d kept\n", count(len(ids), "session", "sessions"), sizeText(size), verb, len(all)-len(ids))
	return errors.Join(problems...)
}

func sessionLine(s session.Summary) string {
	return fmt.Sprintf("%s  %s  %s", s.ID, s.Started.Local().Format(time.DateTime), firstOperation(s))
}

func sizeText(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
}

var days = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]{1,5})([dw])$`) })

// parseAge reads a duration that may also be in days or weeks. Empty is none.
func parseAge(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	if m := days().FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // the pattern lets nothing else through
		age := time.Duration(n) * 24 * time.Hour
		if m[2] == "w" {
			age *= 7
		}
		return age, nil
	}
	age, err := time.ParseDuration(text)
	if err != nil || age < 0 {
		return 0, usagef("--older-than %s: write a number and a unit, such as 30d, 2w or 12h", text)
	}
	return age, nil
}

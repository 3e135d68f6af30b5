package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/schema"
	"github.com/agentco/agent/kernel/internal/session"
	"github.com/agentco/agent/kernel/internal/session/export"
	"github.com/agentco/agent/kernel/internal/session/history"
	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
)

func (a *app) sessionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "Look at what happened in earlier sessions",
		Long: `Look at what happened. Every command that runs calls keeps a session: each call with its arguments, what was
decided about it and by whom, what it printed, and how it ended. Sessions are files of the user in
$XDG_STATE_HOME/agent/sessions; nothing but 'agent session prune' deletes one.

A session is named by its id, by as much of its beginning or of its end, which the prompt of a shell shows, as tells it from
others, or by the word last: the newest, of whatever project, which is also meant when none is named.`,
		Example: `  agent session list
  agent session show
  agent session replay 01JAB`,
		Args: noMoreThan(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.sessionListCommand(), a.sessionShowCommand(), a.sessionReplayCommand(), a.sessionVerifyCommand(),
		a.sessionExportCommand(), a.sessionPruneCommand())
	return cmd
}

// aboutOne has a command be about the session that is named, else the newest.
func (a *app) aboutOne(cmd *cobra.Command, run func(session string) error) *cobra.Command {
	cmd.Args, cmd.ValidArgsFunction = noMoreThan(1), a.completeSession
	cmd.RunE = func(_ *cobra.Command, args []string) error { return run(append(args, session.Last)[0]) }
	return cmd
}

func (a *app) sessionListCommand() *cobra.Command {
	var limit int
	var here bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions, the newest first",
		Long: `List the sessions of the user, the newest first. One that says running has a process; one whose process is gone
without having ended it is interrupted.`,
		Example: `  agent session list
  agent session list --limit 5 --here
  agent session list --json`,
		Args: noMoreThan(0),
		RunE: func(*cobra.Command, []string) error { return a.sessionList(limit, here) },
	}
	cmd.Flags().IntVarP(&limit, "limit", "n", 0, "list no more than this `number`")
	cmd.Flags().BoolVar(&here, "here", false, "list those of this project alone")
	return cmd
}

// sessionJSON is a session in a list.
type sessionJSON struct {
	export.Session
	Path  string     `json:"path"`
	Bytes int64      `json:"bytes"`
	Calls int64      `json:"calls"`
	First string     `json:"first_operation,omitempty"`
	Error *errorJSON `json:"error,omitempty"`
}

func (a *app) sessionList(limit int, here bool) error {
	if limit < 0 {
		return usagef("--limit %d: a list has no fewer than no lines", limit)
	}
	all, err := sessionsFolder().List(a.ctx)
	if err != nil {
		return err
	}
	root := ""
	if here {
		p, err := a.read()
		if err != nil {
			return err
		}
		root = p.Root
	}
	list := []sessionJSON{}
	var rows [][]string
	for _, s := range all {
		if here && s.Project != root || limit > 0 && len(list) == limit {
			continue
		}
		list = append(list, listing(s))
		rows = append(rows, a.sessionRow(s))
	}
	switch {
	case a.flags.json:
		a.writeJSON(map[string]any{"sessions": list})
	case len(rows) == 0:
		a.printf("There are no sessions yet: commands that run calls keep them in %s\n", sessionsFolder())
	default:
		a.table([]string{"SESSION", "BEGAN", "STATUS", "CALLS", "WHAT", "PROJECT"}, rows)
	}
	return nil
}

func listing(s session.Summary) sessionJSON {
	out := sessionJSON{Session: export.Of(s.Meta), Path: s.Path, Bytes: s.Size, Calls: s.Calls, First: firstOperation(s)}
	if s.Err != nil {
		d := describe(s.Err)
		out.Error, out.Status = &d, "damaged"
	}
	return out
}

func (a *app) sessionRow(s session.Summary) []string {
	if s.Err != nil {
		return []string{s.ID, s.Started.Local().Format(time.DateTime), a.display.OutPainter().Error("unreadable"), "-", s.Err.Error(), "-"}
	}
	what := firstOperation(s)
	if s.Calls > 1 {
		what += fmt.Sprintf(" and %d more", s.Calls-1)
	}
	if s.Command != "" && s.Command != "invoke" && s.Command != "run" {
		what = s.Command + ": " + what
	}
	return []string{s.ID, s.Started.Local().Format(time.DateTime), string(s.Status), strconv.FormatInt(s.Calls, 10), what, orDash(s.Project)}
}

func firstOperation(s session.Summary) string {
	var event eventv1.ToolCallEvent
	if len(s.First.Payload) == 0 || proto.Unmarshal(s.First.Payload, &event) != nil {
		return ""
	}
	return history.Operation(s.First.Producer, event.GetCall().GetToolName())
}

// findSession finds the file of a session by what a person calls it.
func findSession(word string) (string, error) {
	path, err := sessionsFolder().Find(word)
	var none *session.NotFoundError
	if !errors.As(err, &none) {
		return path, err
	}
	suggestion := ""
	if !none.Several && len(word) >= 10 { // ids of one day have so much in common that a shorter word is near to all
		suggestion = schema.Nearest(strings.ToUpper(word), none.Among)
	}
	return "", &engine.LookupError{Text: none.Error(), Suggestion: suggestion}
}

// openSession opens a session by what a person calls it, and says so when it was damaged.
func (a *app) openSession(word string) (*session.File, error) {
	path, err := findSession(word)
	if err != nil {
		return nil, err
	}
	f, err := session.Open(a.ctx, path)
	if err != nil {
		return nil, err
	}
	if s := f.Salvage; s != nil {
		a.warn(fmt.Sprintf("the session was damaged (%s): %s; the damaged file is kept as %s",
			s.Cause, count(int(s.Events), "event could be read and is shown", "events could be read and are shown"), s.Kept))
	}
	return f, nil
}

// completeSession completes ids of sessions, each with what it was.
func (a *app) completeSession(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all, _ := sessionsFolder().List(a.ctx)
	words := []string{session.Last + "\tthe newest"}
	for _, s := range all[:min(len(all), 50)] {
		words = append(words, fmt.Sprintf("%s\t%s %s", s.ID, s.Status, firstOperation(s)))
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

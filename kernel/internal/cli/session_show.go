package cli

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/agentco/agent/kernel/internal/session"
	"github.com/agentco/agent/kernel/internal/session/export"
	"github.com/agentco/agent/kernel/internal/session/history"
)

func (a *app) sessionShowCommand() *cobra.Command {
	return a.aboutOne(&cobra.Command{
		Use:   "show [SESSION]",
		Short: "Show the calls of a session",
		Long: `Show the calls of a session: when each was asked for, how long it took from when it was decided about (another call that it
waited for included), how it ended, and who decided that it may run.`,
		Example: `  agent session show
  agent session show 01JAB --json`,
	}, a.sessionShow)
}

// keptCallJSON is a call of a session.
type keptCallJSON struct {
	CallID    string          `json:"call_id"`
	TurnID    string          `json:"turn_id"`
	Operation string          `json:"operation"`
	Status    string          `json:"status"`
	Provider  export.Producer `json:"provider"`
	Began     *time.Time      `json:"began_at,omitempty"`
	Ended     *time.Time      `json:"ended_at,omitempty"`
	DecidedBy string          `json:"decided_by,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // that it ran with
	Requested json.RawMessage `json:"requested_arguments,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"`
}

func (a *app) sessionShow(word string) error {
	f, err := a.openSession(word)
	if err != nil {
		return err
	}
	defer f.Close()
	calls, err := history.Calls(a.ctx, f)
	if err != nil {
		return err
	}
	if a.flags.json {
		kept := make([]keptCallJSON, len(calls))
		for i, c := range calls {
			kept[i] = keptCall(c)
		}
		a.writeJSON(map[string]any{"session": export.Of(f.Meta()), "calls": kept})
		return nil
	}
	a.sessionHead(f.Meta())
	var rows [][]string
	for i, c := range calls {
		rows = append(rows, []string{
			strconv.Itoa(i + 1), began(c), shortly(c.Took()), c.Status, c.String(), orDash(c.DecidedBy()), a.shortError(c),
		})
	}
	a.table([]string{"", "BEGAN", "TOOK", "STATUS", "CALL", "DECIDED BY", ""}, rows)
	return nil
}

func keptCall(c *history.Call) keptCallJSON {
	out := keptCallJSON{
		CallID: c.ID, TurnID: c.TurnID, Operation: c.String(), Status: c.Status, DecidedBy: c.DecidedBy(),
		Provider: export.Producer{Category: c.Producer.Category, Name: c.Producer.Name, Version: c.Producer.Version},
	}
	if !c.Lost {
		out.Began = &c.Began
	}
	if !c.Ended.IsZero() {
		out.Ended = &c.Ended
	}
	if arguments := c.Arguments(); arguments != nil {
		out.Arguments = protoJSON(arguments)
	}
	if requested := c.Requested(); requested != nil {
		out.Requested = protoJSON(requested)
	}
	if c.Result != nil {
		out.Result = protoJSON(c.Result)
	}
	if c.Error != nil {
		out.Error = eventJSON(c.Error)
	}
	return out
}

// began is when a call was asked for, as far as that is known.
func began(c *history.Call) string {
	if c.Lost {
		return "-"
	}
	return c.Began.Local().Format(time.TimeOnly)
}

// sessionHead says which session it is.
func (a *app) sessionHead(m session.Meta) {
	p := a.display.OutPainter()
	a.printf("%s %s, %s, %s\n", p.Bold("session "+m.ID), m.Status, m.Started.Local().Format(time.DateTime), orDash(m.Command))
	if m.Project != "" {
		a.printf("%s\n", p.Dim(paint.Line(m.Project)))
	}
}

func shortly(d time.Duration) string {
	switch {
	case d == 0:
		return "-"
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	default:
		return d.Round(10 * time.Millisecond).String()
	}
}

// shortError is the first line of why a call did not complete, or that the log does not have all of it; on a terminal, the
// beginning of it.
func (a *app) shortError(c *history.Call) string {
	line, _, _ := strings.Cut(c.Error.GetMessage(), "\n")
	if c.Lost {
		line = strings.TrimSuffix(c.LostNote()+"; "+line, "; ")
	}
	if !a.display.out.terminal {
		return paint.Line(line)
	}
	return paint.Clip(paint.Line(line), 60)
}

package cli

import (
	"encoding/hex"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/agentco/agent/kernel/internal/session"
)

func (a *app) sessionVerifyCommand() *cobra.Command {
	return a.aboutOne(&cobra.Command{
		Use:   "verify [SESSION]",
		Short: "Check that nothing of a session was changed",
		Long: `Check that a session is as it was written: every page of the file, the hash of each event over the one before,
what calls have printed, that none is missing at the end, and that plans agree with their table. Nothing is changed.

The hashes have no secret in them: whoever can write the file can write all of them anew. Keep the head that is
printed, or an export, elsewhere, to tell that, too. The exit code is 1 when anything is not as it was.`,
		Example: `  agent session verify
  agent session verify 01JAB --json`,
	}, a.sessionVerify)
}

// problemJSON is what is not as it was written.
type problemJSON struct {
	Sequence int64  `json:"sequence,omitempty"`
	Message  string `json:"message"`
}

func (a *app) sessionVerify(word string) error {
	path, err := findSession(word)
	if err != nil {
		return err
	}
	v, err := session.Verify(a.ctx, path)
	if err != nil {
		return err
	}
	problems := []problemJSON{}
	for _, p := range v.Problems {
		problems = append(problems, problemJSON{p.Sequence, p.Text})
	}
	if len(problems) > 0 {
		err = fmt.Errorf("%s is not as it was written", path)
	}
	if a.flags.json {
		a.writeJSON(map[string]any{
			"valid": len(problems) == 0, "session_id": v.Meta.ID, "events": v.Events, "head": hex.EncodeToString(v.Head), "problems": problems,
		})
		a.silent = true
		return err
	}
	for _, p := range problems {
		where := ""
		if p.Sequence > 0 {
			where = fmt.Sprintf("event %d: ", p.Sequence)
		}
		a.display.Note(a.display.ErrPainter().Error("error: ") + paint.Text(where+p.Message))
	}
	if err == nil {
		p := a.display.OutPainter()
		a.printf("%s %s %s, head %s\n", p.Bold("session "+v.Meta.ID), p.Success("is as it was written:"), count(int(v.Events), "event", "events"), hex.EncodeToString(v.Head))
	}
	return err
}

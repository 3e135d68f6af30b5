package session

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	"google.golang.org/protobuf/proto"
)

// Verdict is what a check of a file found.
type Verdict struct {
	Meta   Meta
	Events int64
	// Head is the hash of the last event, which stands for all of them.
	Head []byte
	// Problems are empty when the file is what its writer left. See Chain for what that proves.
	Problems []Problem
}

// Problem is something that is not as the writer left it.
type Problem struct {
	// Sequence is the event it was noticed at; zero when it is about the file.
	Sequence int64
	Text     string
}

// problemLimit is how many problems are told; one that is missing makes every row after it wrong.
const problemLimit = 20

// Verify checks a file: its pages, its chain, and that what finds events agrees with them. A tail that was left over is
// taken in first; beside that it changes nothing, and a damaged file not at all. The error is about a file that cannot be checked at all.
func Verify(ctx context.Context, path string) (*Verdict, error) {
	f, err := read(ctx, path)
	var damage *DamageError
	if errors.As(err, &damage) {
		return &Verdict{Problems: []Problem{{Text: damage.Error()}}}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	v := &verifier{file: f, Verdict: Verdict{Meta: f.meta}, chain: NewChain(f.meta.ID), items: map[int64][]*planv1.PlanItem{}}
	if err := f.whole(ctx); errors.As(err, &damage) {
		v.problem(0, "%s", damage)
	} else if err != nil {
		return nil, err
	}
	if s := f.Salvage; s != nil {
		v.problem(0, "%s; it is kept as %s", s.Cause, s.Kept)
	}
	err = v.all(ctx)
	if isDamage(err) {
		v.problem(0, "it cannot be read to its end: %v", err)
		err = nil
	}
	return &v.Verdict, err
}

type verifier struct {
	Verdict
	file  *File
	chain *Chain
	last  int64
	items map[int64][]*planv1.PlanItem // of the plan events
}

func (v *verifier) problem(sequence int64, text string, args ...any) {
	if len(v.Problems) < problemLimit {
		v.Problems = append(v.Problems, Problem{sequence, fmt.Sprintf(text, args...)})
	}
}

func (v *verifier) all(ctx context.Context) error {
	// One moment of a file that may be written meanwhile.
	tx, err := v.file.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if name := pathID(v.file.path); name != v.Meta.ID {
		v.problem(0, "its name says session %s and its content %s", name, v.Meta.ID)
	}
	if err := v.events(ctx, tx); err != nil {
		return err
	}
	v.Head = v.chain.Head()
	return errors.Join(v.ends(ctx, tx), v.plans(ctx, tx))
}

func (v *verifier) events(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, "SELECT timestamp, "+eventColumns[len("SELECT "):]+" ORDER BY sequence")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var e Event
		var timestamp, same string
		if err := rows.Scan(&timestamp, &e.Sequence, &e.ID, &same, &e.Kind, &e.Producer.Category, &e.Producer.Name, &e.Producer.Version,
			&e.SchemaVersion, &e.Payload, &e.Hash); err != nil {
			return err
		}
		if err := v.event(ctx, tx, e, timestamp); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (v *verifier) event(ctx context.Context, tx *sql.Tx, e Event, timestamp string) error {
	v.Events++
	switch {
	case e.Sequence == v.last+2:
		v.problem(e.Sequence, "event %d is missing before it", v.last+1)
	case e.Sequence != v.last+1:
		v.problem(e.Sequence, "events %d to %d are missing before it", v.last+1, e.Sequence-1)
	}
	v.last = e.Sequence
	digest, err := v.read(ctx, tx, e)
	if err != nil {
		return err
	}
	if want := v.chain.next(e, timestamp, digest); !bytes.Equal(want, e.Hash) {
		v.problem(e.Sequence, "its hash is not that of what is there: it, the one before, or the output of its call was changed or taken out")
	}
	// From here on what is there is taken as it is, so that one change is one problem.
	v.chain.resume(e.Hash)
	return nil
}

// read looks into the payloads that say what belongs to an event.
func (v *verifier) read(ctx context.Context, tx *sql.Tx, e Event) (digest []byte, err error) {
	switch e.Kind {
	case ToolResult:
		var result eventv1.ToolResultEvent
		if proto.Unmarshal(e.Payload, &result) != nil {
			v.problem(e.Sequence, "its payload is no result of a call")
			return nil, nil
		}
		rows, err := tx.QueryContext(ctx, "SELECT timestamp, stream, data, skipped FROM output WHERE call_id = ? ORDER BY rowid", result.GetToolCallId())
		if err != nil {
			return nil, err
		}
		return readTranscript(rows)
	case Plan:
		var plan eventv1.PlanEvent
		if proto.Unmarshal(e.Payload, &plan) != nil {
			v.problem(e.Sequence, "its payload is no plan")
			return nil, nil
		}
		v.items[e.Sequence] = plan.GetPlan().GetItems()
	}
	return nil, nil
}

// ends compares the last event with what else knows which that is.
func (v *verifier) ends(ctx context.Context, tx *sql.Tx) error {
	var given int64
	err := tx.QueryRowContext(ctx, "SELECT seq FROM sqlite_sequence WHERE name = 'events'").Scan(&given)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if given != v.last {
		v.problem(0, "%d events were written, and the last that is there is %d", given, v.last)
	}
	var sequence int64
	var head []byte
	err = tx.QueryRowContext(ctx, "SELECT head_sequence, head_hash FROM session_meta LIMIT 1").Scan(&sequence, &head)
	if err == nil && sequence > 0 && v.Meta.Status != Running && (sequence != v.last || !bytes.Equal(head, v.Head)) {
		v.problem(0, "the session ended with event %d, and that is not the last that is there", sequence)
	}
	return err
}

// plans compares the rows that find items of plans with the plans.
func (v *verifier) plans(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, "SELECT event_sequence, turn_id, tool_call_id, provider_name, tool_name, decision, decided_by FROM plan_items ORDER BY rowid")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var i PlanItem
		if err := rows.Scan(&i.EventSequence, &i.TurnID, &i.CallID, &i.Provider, &i.Tool, &i.Decision, &i.DecidedBy); err != nil {
			return err
		}
		rest := v.items[i.EventSequence]
		if len(rest) == 0 || ItemOf(i.TurnID, i.EventSequence, rest[0]) != i {
			v.problem(i.EventSequence, "the row in plan_items for call %s is not what the plan says", i.CallID)
		}
		v.items[i.EventSequence] = rest[min(1, len(rest)):]
	}
	for sequence, rest := range v.items {
		if len(rest) > 0 {
			v.problem(sequence, "%d items of the plan have no row in plan_items", len(rest))
		}
	}
	return rows.Err()
}

// ItemOf is the row for an item of a plan.
func ItemOf(turnID string, sequence int64, item *planv1.PlanItem) PlanItem {
	return PlanItem{
		EventSequence: sequence, TurnID: turnID, CallID: item.GetCallId(), Provider: item.GetProvider(), Tool: item.GetOperationName(),
		Decision: word(item.GetDecision(), "PLAN_DECISION_"), DecidedBy: item.GetDecidedBy(),
	}
}

// word is the name of a value of an enum without its prefix, lower case.
func word(value fmt.Stringer, prefix string) string {
	return strings.ToLower(strings.TrimPrefix(value.String(), prefix))
}

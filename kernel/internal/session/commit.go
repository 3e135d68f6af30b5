package session

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"strings"
	"time"
)

// statements are what a commit is made of, prepared once.
type statements struct {
	begin, commit, changed, last            *sql.Stmt
	event, meta, item, producer, output, of *sql.Stmt
}

func (w *writer) prepare(ctx context.Context) error {
	var errs []error
	stmt := func(text string) *sql.Stmt {
		s, err := w.conn.PrepareContext(ctx, text)
		errs = append(errs, err)
		return s
	}
	w.insert = statements{
		begin:   stmt("BEGIN IMMEDIATE"),
		commit:  stmt("COMMIT"),
		changed: stmt("PRAGMA data_version"),
		last:    stmt("SELECT sequence, hash FROM events ORDER BY sequence DESC LIMIT 1"),
		event: stmt(`INSERT INTO events (sequence, id, timestamp, kind, producer_category, producer_name, producer_version,
			schema_version, payload, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
		meta: stmt(`INSERT OR IGNORE INTO session_meta (session_id, parent_session_id, profile, status, depth, started_at,
			ended_at, command, project) VALUES (?, ?, ?, ?, ?, ?, '', ?, ?)`),
		item: stmt(`INSERT INTO plan_items (event_sequence, turn_id, tool_call_id, provider_name, tool_name, decision,
			decided_by) VALUES (?, ?, ?, ?, ?, ?, ?)`),
		producer: stmt("INSERT OR IGNORE INTO producers (category, name, version, source, first_seen_sequence) VALUES (?, ?, ?, ?, ?)"),
		output:   stmt("INSERT INTO output (call_id, timestamp, stream, data, skipped) VALUES (?, ?, ?, ?, ?)"),
		of:       stmt("SELECT timestamp, stream, data, skipped FROM output WHERE call_id = ? ORDER BY rowid"),
	}
	return errors.Join(errs...)
}

func (s *statements) close() {
	for _, stmt := range []*sql.Stmt{s.begin, s.commit, s.changed, s.last, s.event, s.meta, s.item, s.producer, s.output, s.of} {
		if stmt != nil {
			_ = stmt.Close() // it only frees memory
		}
	}
}

// commit writes a group in one transaction, and returns the sequence of each event in it.
func (w *writer) commit(ctx context.Context, group []entry) (sequences []int64, err error) {
	if _, err := w.insert.begin.ExecContext(ctx); err != nil {
		return nil, err
	}
	before := maps.Clone(w.printed)
	if sequences, err = w.rows(ctx, group); err == nil {
		_, err = w.insert.commit.ExecContext(ctx)
	}
	if err != nil {
		// A failed COMMIT may have ended the transaction already.
		_, _ = w.conn.ExecContext(ctx, "ROLLBACK")
		w.printed = before
		return nil, err
	}
	for _, e := range group {
		if e.receipt != nil && e.event.Kind == ToolResult {
			delete(w.printed, e.event.CallID)
		}
	}
	return sequences, nil
}

func (w *writer) rows(ctx context.Context, group []entry) ([]int64, error) {
	if err := w.catchUp(ctx); err != nil {
		return nil, err
	}
	sequences := make([]int64, len(group))
	for i := 0; i < len(group); i++ {
		e := group[i]
		if e.receipt != nil {
			if err := w.event(ctx, e.event, e.at); err != nil {
				return nil, err
			}
			sequences[i] = w.sequence
			continue
		}
		joined := *e.output
		for i+1 < len(group) && continues(joined, group[i+1].output) {
			i++
			// Not in place: a group that fails is asked for the sizes of its parts.
			joined.Data = append(joined.Data[:len(joined.Data):len(joined.Data)], group[i].output.Data...)
		}
		if err := w.print(ctx, joined); err != nil {
			return nil, err
		}
	}
	return sequences, nil
}

// continues reports whether one output is the rest of the one before.
func continues(o Output, next *Output) bool {
	return next != nil && next.CallID == o.CallID && next.Stream == o.Stream && o.Skipped == 0 && next.Skipped == 0 &&
		next.Time.Sub(o.Time) < 2*groupPause && len(o.Data)+len(next.Data) <= OutputLimit
}

// catchUp learns where the log ends, unless nobody else has written since. It comes first in a transaction.
func (w *writer) catchUp(ctx context.Context) error {
	var now int64
	if err := w.insert.changed.QueryRowContext(ctx).Scan(&now); err != nil {
		return err
	}
	if w.known && now == w.seen {
		return nil
	}
	m := w.meta
	if _, err := w.insert.meta.ExecContext(ctx, m.ID, m.Parent, m.Profile, string(Running), m.Depth, formatTime(m.Started), m.Command, m.Project); err != nil {
		return err
	}
	var hash []byte
	w.chain, w.sequence = NewChain(m.ID), 0
	switch err := w.insert.last.QueryRowContext(ctx).Scan(&w.sequence, &hash); {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return err
	default:
		w.chain.resume(hash)
	}
	w.known, w.seen = true, now
	return nil
}

func (w *writer) event(ctx context.Context, e Entry, at time.Time) error {
	digest, err := w.transcriptOf(ctx, e, at)
	if err != nil {
		return err
	}
	row := Event{
		Sequence: w.sequence + 1, ID: e.ID, Kind: e.Kind, Producer: e.Producer,
		SchemaVersion: e.SchemaVersion, Payload: e.Payload,
	}
	if row.Payload == nil {
		row.Payload = []byte{}
	}
	timestamp := formatTime(at)
	row.Hash = w.chain.next(row, timestamp, digest)
	p := row.Producer
	if _, err := w.insert.event.ExecContext(ctx, row.Sequence, row.ID, timestamp, string(row.Kind), p.Category, p.Name, p.Version,
		row.SchemaVersion, row.Payload, row.Hash); err != nil {
		return err
	}
	w.sequence = row.Sequence
	w.chain.resume(row.Hash)
	for _, item := range e.Items {
		if _, err := w.insert.item.ExecContext(ctx, row.Sequence, item.TurnID, item.CallID, item.Provider, item.Tool, item.Decision, item.DecidedBy); err != nil {
			return err
		}
	}
	if !w.producer[p] {
		if _, err := w.insert.producer.ExecContext(ctx, p.Category, p.Name, p.Version, p.Source, row.Sequence); err != nil {
			return err
		}
		w.producer[p] = true
	}
	return nil
}

// print keeps output, as far as there is room for it.
func (w *writer) print(ctx context.Context, o Output) error {
	p := w.printed[o.CallID]
	defer func() { w.printed[o.CallID] = p }()
	kept := o.Data[:min(len(o.Data), OutputLimit-p.kept)]
	if len(kept) > 0 {
		if err := w.gap(ctx, o.CallID, o.Time, &p); err != nil {
			return err
		}
		if _, err := w.insert.output.ExecContext(ctx, o.CallID, formatTime(o.Time), o.Stream, kept, 0); err != nil {
			return err
		}
		p.kept += len(kept)
	}
	p.skipped += int64(len(o.Data)-len(kept)) + o.Skipped
	return nil
}

// gap writes down that output is missing here, when it is.
func (w *writer) gap(ctx context.Context, callID string, at time.Time, p *printed) error {
	if p.skipped == 0 {
		return nil
	}
	_, err := w.insert.output.ExecContext(ctx, callID, formatTime(at), "", []byte{}, p.skipped)
	p.skipped = 0
	return err
}

// transcriptOf is what the hash of a result covers beside the event.
func (w *writer) transcriptOf(ctx context.Context, e Entry, at time.Time) ([]byte, error) {
	p, has := w.printed[e.CallID]
	if e.Kind != ToolResult || !has {
		return nil, nil
	}
	if err := w.gap(ctx, e.CallID, at, &p); err != nil {
		return nil, err
	}
	w.printed[e.CallID] = p
	rows, err := w.insert.of.QueryContext(ctx, e.CallID)
	if err != nil {
		return nil, err
	}
	return readTranscript(rows)
}

// readTranscript hashes the rows of output of one call.
func readTranscript(rows *sql.Rows) ([]byte, error) {
	defer func() { _ = rows.Close() }()
	var t transcript
	for rows.Next() {
		var timestamp, stream string
		var data []byte
		var skipped int64
		if err := rows.Scan(&timestamp, &stream, &data, &skipped); err != nil {
			return nil, err
		}
		t.add(strings.Clone(timestamp), stream, data, skipped)
	}
	return t.bytes(), rows.Err()
}

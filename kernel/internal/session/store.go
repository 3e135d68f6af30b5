package session

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
)

const (
	// checkpointAfter is how many bytes of rows are written before the write-ahead log is taken into the file while calls
	// go on: of a large result that takes as long as all else that the log does.
	checkpointAfter = 32 << 20
	// restAfter is how many are worth it when nothing is written any more.
	restAfter = 1 << 20
)

// store takes rows into a database. It is used by one goroutine at a time, and whoever else has the file open may take in
// the same rows: each has a number, and is there once.
type store struct {
	conn   *sql.Conn
	id     string // of the session
	insert statements

	chain            *Chain
	sequence, output int64 // of the last event, and the last rowid of output
	seen             int64 // data_version that these belong to
	known            bool  // whether they are known
	producer         map[Producer]bool
}

// statements are what a commit is made of, prepared once.
type statements struct {
	begin, commit, changed, last, lastOutput *sql.Stmt
	event, item, producer, output, of        *sql.Stmt
}

func newStore(ctx context.Context, conn *sql.Conn, id string) (*store, error) {
	var errs []error
	stmt := func(text string) *sql.Stmt {
		s, err := conn.PrepareContext(ctx, text)
		errs = append(errs, err)
		return s
	}
	s := &store{conn: conn, id: id, producer: map[Producer]bool{}, insert: statements{
		begin:      stmt("BEGIN IMMEDIATE"),
		commit:     stmt("COMMIT"),
		changed:    stmt("PRAGMA data_version"),
		last:       stmt("SELECT sequence, hash FROM events ORDER BY sequence DESC LIMIT 1"),
		lastOutput: stmt("SELECT coalesce(max(rowid), 0) FROM output"),
		event: stmt(`INSERT INTO events (sequence, id, timestamp, kind, producer_category, producer_name, producer_version,
			schema_version, payload, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
		item: stmt(`INSERT INTO plan_items (event_sequence, turn_id, tool_call_id, provider_name, tool_name, decision,
			decided_by) VALUES (?, ?, ?, ?, ?, ?, ?)`),
		producer: stmt("INSERT OR IGNORE INTO producers (category, name, version, source, first_seen_sequence) VALUES (?, ?, ?, ?, ?)"),
		output:   stmt("INSERT INTO output (rowid, call_id, timestamp, stream, data, skipped) VALUES (?, ?, ?, ?, ?, ?)"),
		of:       stmt("SELECT timestamp, stream, data, skipped FROM output WHERE call_id = ? ORDER BY rowid"),
	}}
	if err := errors.Join(errs...); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// close frees the statements; the connection is its owner's.
func (s *store) close() {
	i := &s.insert
	for _, stmt := range []*sql.Stmt{i.begin, i.commit, i.changed, i.last, i.lastOutput, i.event, i.item, i.producer, i.output, i.of} {
		if stmt != nil {
			_ = stmt.Close() // it only frees memory
		}
	}
}

// within runs work in a transaction that has the right to write from its first moment, knowing where the log ends.
func (s *store) within(ctx context.Context, work func() error) error {
	if _, err := s.insert.begin.ExecContext(ctx); err != nil {
		return err
	}
	err := s.locate(ctx)
	if err == nil {
		err = work()
	}
	if err == nil {
		_, err = s.insert.commit.ExecContext(ctx)
	}
	if err != nil {
		// A failed COMMIT may have ended the transaction already.
		_, _ = s.conn.ExecContext(ctx, "ROLLBACK")
		s.known = false
		clear(s.producer)
	}
	return err
}

// begin records that a session runs, from now on or again.
func (s *store) begin(ctx context.Context, m *Meta) error {
	return s.within(ctx, func() error {
		_, err := s.conn.ExecContext(ctx, `INSERT INTO session_meta (session_id, parent_session_id, profile, status, depth, started_at,
			ended_at, command, project) VALUES (?, ?, ?, ?, ?, ?, '', ?, ?)
			ON CONFLICT (session_id) DO UPDATE SET status = excluded.status, ended_at = '', head_sequence = 0, head_hash = x''`,
			m.ID, m.Parent, m.Profile, string(Running), m.Depth, formatTime(m.Started), m.Command, m.Project)
		return err
	})
}

// end records how a session ended, and with which event.
func (s *store) end(ctx context.Context, status Status) error {
	return s.within(ctx, func() error {
		_, err := s.conn.ExecContext(ctx,
			"UPDATE session_meta SET status = ?, ended_at = ?, head_sequence = ?, head_hash = ? WHERE session_id = ?",
			string(status), formatTime(time.Now()), s.sequence, s.chain.Head(), s.id)
		return err
	})
}

// locate learns where the log ends, unless nobody else has written since.
func (s *store) locate(ctx context.Context) error {
	var now int64
	if err := s.insert.changed.QueryRowContext(ctx).Scan(&now); err != nil {
		return err
	}
	if s.known && now == s.seen {
		return nil
	}
	var hash []byte
	s.chain, s.sequence = NewChain(s.id), 0
	switch err := s.insert.last.QueryRowContext(ctx).Scan(&s.sequence, &hash); {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return err
	default:
		s.chain.resume(hash)
	}
	if err := s.insert.lastOutput.QueryRowContext(ctx).Scan(&s.output); err != nil {
		return err
	}
	s.known, s.seen = true, now
	return nil
}

// has reports whether a row is there. Rows are only ever taken in in their order.
func (s *store) has(r *row) bool {
	if r.kind == rowOutput {
		return r.n <= s.output
	}
	return r.n <= s.sequence
}

// take takes in those rows that are not there yet, all of them or none.
func (s *store) take(ctx context.Context, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	return s.within(ctx, func() error {
		for i := range rows {
			r := &rows[i]
			if s.has(r) {
				continue
			}
			err := error(nil)
			if r.kind == rowOutput {
				err = s.print(ctx, r)
			} else {
				err = s.event(ctx, r)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *store) print(ctx context.Context, r *row) error {
	o := &r.output
	data := o.Data
	if data == nil {
		data = []byte{}
	}
	if _, err := s.insert.output.ExecContext(ctx, r.n, o.CallID, formatTime(r.at), o.Stream, data, o.Skipped); err != nil {
		return err
	}
	s.output = r.n
	return nil
}

func (s *store) event(ctx context.Context, r *row) error {
	digest, err := s.transcript(ctx, r)
	if err != nil {
		return err
	}
	e, p := &r.event, r.event.Producer
	payload := e.Payload
	if payload == nil {
		payload = []byte{}
	}
	timestamp := formatTime(r.at)
	hash := s.chain.next(Event{Sequence: r.n, ID: e.ID, Kind: e.Kind, Producer: p, SchemaVersion: e.SchemaVersion, Payload: payload}, timestamp, digest)
	if _, err := s.insert.event.ExecContext(ctx, r.n, e.ID, timestamp, string(e.Kind), p.Category, p.Name, p.Version,
		e.SchemaVersion, payload, hash); err != nil {
		return err
	}
	s.sequence = r.n
	s.chain.resume(hash)
	for _, item := range e.Items {
		if _, err := s.insert.item.ExecContext(ctx, r.n, item.TurnID, item.CallID, item.Provider, item.Tool, item.Decision, item.DecidedBy); err != nil {
			return err
		}
	}
	if !s.producer[p] {
		if _, err := s.insert.producer.ExecContext(ctx, p.Category, p.Name, p.Version, p.Source, r.n); err != nil {
			return err
		}
		s.producer[p] = true
	}
	return nil
}

// transcript is what the hash of a result covers beside the event.
func (s *store) transcript(ctx context.Context, r *row) ([]byte, error) {
	if !r.printed {
		return nil, nil
	}
	rows, err := s.insert.of.QueryContext(ctx, r.event.CallID)
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

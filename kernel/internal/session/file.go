package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// File is a session that is read.
type File struct {
	path  string
	at    string // where the database is that is read: path, or a copy of it
	live  bool   // that copy was made while the session was written
	db    *sql.DB
	meta  Meta
	sound bool // every page was looked at
	// Salvage is set when the file was damaged and this is what could be saved of it.
	Salvage *Salvage
}

// Open opens a session to read it: all that had been reported as kept by then, also when it is being written, and when its
// writer was killed. An older file is given the tables of today first. A damaged one is put aside, and what can be
// read of it takes its place; Salvage then says so. The caller closes the file.
func Open(ctx context.Context, path string) (*File, error) {
	f, err := read(ctx, path)
	if err == nil {
		if err = f.whole(ctx); err == nil {
			return f, nil
		}
		f.Close()
	}
	var damage *DamageError
	if !errors.As(err, &damage) {
		return nil, err
	}
	saved, err := salvage(ctx, path, damage)
	if err != nil {
		return nil, err
	}
	if f, err = read(ctx, path); err != nil {
		return nil, err
	}
	f.Salvage = saved
	if err := f.takeTail(ctx); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// whole looks at every page, and takes in what the session has beyond them.
func (f *File) whole(ctx context.Context) error {
	if err := f.intact(ctx); err != nil {
		return err
	}
	return f.takeTail(ctx)
}

// DamageError is a file that is not what it should be.
type DamageError struct {
	Path  string
	Cause string
}

func (e *DamageError) Error() string { return fmt.Sprintf("%s is damaged: %s", e.Path, e.Cause) }

// read opens a file and reads what it says of itself, without looking at the rest. A *DamageError is the only error
// that may be cured.
func read(ctx context.Context, path string) (*File, error) {
	if err := checkVersion(path); err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	f := &File{path: path, at: path}
	err := f.connect(ctx, "mode=rw")
	if errors.Is(err, errEmpty) {
		err = f.begin(ctx)
	}
	switch {
	case err == nil || !noRoom(err) && writable(path):
	case ended(path):
		err = f.connect(ctx, "immutable=1") // nobody can write it, so it needs no locks that cannot be had here
	default:
		err = f.connectCopy(ctx)
	}
	if isDamage(err) || errors.Is(err, errEmpty) {
		err = &DamageError{Path: path, Cause: err.Error()}
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

var errEmpty = errors.New("it holds no session")

func (f *File) connect(ctx context.Context, how string) (err error) {
	if f.db, err = sql.Open("sqlite", dsn(f.at, how)); err != nil {
		return err
	}
	c, err := f.db.Conn(ctx)
	if err == nil {
		if v, problem := version(ctx, c); problem != nil {
			err = problem
		} else if v == 0 {
			err = errEmpty
		} else if err = migrate(ctx, c, f.at, readVersion); err == nil {
			err = f.readMeta(ctx, c)
		}
		err = errors.Join(err, c.Close())
	}
	if err != nil {
		return errors.Join(err, f.db.Close())
	}
	return nil
}

func (f *File) readMeta(ctx context.Context, c *sql.Conn) error {
	m := &f.meta
	lives := alive(f.path) // before it is read: one that lives now may have ended by then, and said so
	var started, ended string
	err := c.QueryRowContext(ctx, `SELECT session_id, parent_session_id, depth, profile, status, started_at, ended_at, command, project
		FROM session_meta ORDER BY rowid LIMIT 1`).Scan(&m.ID, &m.Parent, &m.Depth, &m.Profile, &m.Status, &started, &ended, &m.Command, &m.Project)
	if errors.Is(err, sql.ErrNoRows) {
		return errEmpty
	}
	if err != nil {
		return err
	}
	m.Started, m.Ended = parseTime(started), parseTime(ended)
	if m.Status == Running && !lives {
		m.Status = Interrupted
	}
	return nil
}

// intact looks at every page.
func (f *File) intact(ctx context.Context) error {
	if f.sound {
		return nil
	}
	problems, err := texts(ctx, f.db, "PRAGMA integrity_check(5)")
	switch {
	case isDamage(err):
		return &DamageError{Path: f.path, Cause: err.Error()}
	case err != nil:
		return err
	case len(problems) == 1 && problems[0] == "ok":
		f.sound = true
		return nil
	}
	return &DamageError{Path: f.path, Cause: strings.Join(problems, "; ")}
}

func texts(ctx context.Context, db *sql.DB, query string) (all []string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}

// writable reports whether SQLite could do all it wants with a file.
func writable(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	f.Close()
	probe, err := os.CreateTemp(filepath.Dir(path), ".probe-*")
	if err != nil {
		return errors.Is(err, fs.ErrExist)
	}
	probe.Close()
	return os.Remove(probe.Name()) == nil
}

// Path is where the file is.
func (f *File) Path() string { return f.path }

// Meta is what the session says of itself.
func (f *File) Meta() Meta { return f.meta }

// Close closes the file. What was read has been read: there is nothing about it that could fail and matter.
func (f *File) Close() {
	_ = f.db.Close()
	f.dropCopy()
}

// Events are all events, in their order. An error is the last thing it yields.
func (f *File) Events(ctx context.Context) iter.Seq2[Event, error] {
	return query(ctx, f.db, scanEvent, eventColumns+" ORDER BY sequence")
}

const eventColumns = `SELECT sequence, id, timestamp, kind, producer_category, producer_name, producer_version,
	schema_version, payload, hash FROM events`

func scanEvent(rows *sql.Rows) (e Event, err error) {
	var timestamp string
	err = rows.Scan(&e.Sequence, &e.ID, &timestamp, &e.Kind, &e.Producer.Category, &e.Producer.Name, &e.Producer.Version,
		&e.SchemaVersion, &e.Payload, &e.Hash)
	e.Time = parseTime(timestamp)
	return e, err
}

// Output is what a call printed, in its order.
func (f *File) Output(ctx context.Context, callID string) iter.Seq2[Output, error] {
	return query(ctx, f.db, scanOutput, "SELECT call_id, timestamp, stream, data, skipped FROM output WHERE call_id = ? ORDER BY rowid", callID)
}

func scanOutput(rows *sql.Rows) (o Output, err error) {
	var timestamp string
	err = rows.Scan(&o.CallID, &timestamp, &o.Stream, &o.Data, &o.Skipped)
	o.Time = parseTime(timestamp)
	return o, err
}

// Items are the rows of all plans.
func (f *File) Items(ctx context.Context) iter.Seq2[PlanItem, error] {
	return query(ctx, f.db, func(rows *sql.Rows) (i PlanItem, err error) {
		err = rows.Scan(&i.EventSequence, &i.TurnID, &i.CallID, &i.Provider, &i.Tool, &i.Decision, &i.DecidedBy)
		return i, err
	}, "SELECT event_sequence, turn_id, tool_call_id, provider_name, tool_name, decision, decided_by FROM plan_items ORDER BY rowid")
}

// Producers are all that events come from, in the order of their first one.
func (f *File) Producers(ctx context.Context) iter.Seq2[Producer, error] {
	return query(ctx, f.db, func(rows *sql.Rows) (p Producer, err error) {
		err = rows.Scan(&p.Category, &p.Name, &p.Version, &p.Source)
		return p, err
	}, "SELECT category, name, version, source FROM producers ORDER BY first_seen_sequence, category, name")
}

func query[T any](ctx context.Context, db *sql.DB, scan func(*sql.Rows) (T, error), text string, args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		rows, err := db.QueryContext(ctx, text, args...)
		if err != nil {
			yield(none, err)
			return
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			row, err := scan(rows)
			if !yield(row, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(none, err)
		}
	}
}

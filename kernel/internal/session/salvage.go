package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// Salvage is what became of a damaged file.
type Salvage struct {
	// Cause is what is wrong with it.
	Cause string
	// Kept is where the damaged file is now.
	Kept string
	// Events is how many events could be read.
	Events int64
}

// corrupt is what the name of a damaged file goes on with, before the time when that was noticed.
const (
	corrupt       = ".corrupt-"
	corruptLayout = "20060102T150405.000Z"
)

// salvage puts a damaged file aside and writes what can be read of it into a new one in its place. A tail stays, for that.
func salvage(ctx context.Context, path string, damage *DamageError) (*Salvage, error) {
	lock, free, err := seize(path)
	if err != nil || !free {
		return nil, fmt.Errorf("%w; a process has it open, so nothing is done about it now", damage)
	}
	defer func() { _ = release(lock) }()
	fresh := path + ".salvage"
	if err := removeDatabase(fresh); err != nil {
		return nil, fmt.Errorf("%w, and what can be read of it cannot be saved: %w", damage, err)
	}
	count, err := rescue(ctx, path, fresh)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w, and what can be read of it cannot be saved: %w", damage, err), removeDatabase(fresh))
	}
	kept := path + corrupt + time.Now().UTC().Format(corruptLayout)
	for _, suffix := range journals {
		if err := os.Rename(path+suffix, kept+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w, and it cannot be put aside: %w", damage, err)
		}
	}
	if err := os.Rename(fresh, path); err != nil {
		return nil, err
	}
	return &Salvage{Cause: damage.Cause, Kept: kept, Events: count}, nil
}

func removeDatabase(path string) (err error) {
	for _, suffix := range journals {
		err = errors.Join(err, remove(path+suffix))
	}
	return err
}

// rescue copies all that can be read from one file to another.
func rescue(ctx context.Context, from, to string) (events int64, err error) {
	// The only setting is the one that has SQLite read a file that is shorter than it says: every other reads the file.
	old, err := sql.Open("sqlite", uri(from, "mode=ro&_pragma=writable_schema(on)"))
	if err != nil {
		return 0, err
	}
	defer func() { _ = old.Close() }()
	source, err := old.Conn(ctx)
	if err == nil {
		defer func() { _ = source.Close() }()
	} else if !isDamage(err) {
		return 0, err
	}
	if _, err := createFile(to); err != nil {
		return 0, err
	}
	db, target, _, err := openWriter(ctx, to)
	if err != nil {
		return 0, err
	}
	r := rescuer{source: source, target: target}
	err = transact(ctx, target, func() error { return r.all(ctx, from) })
	_, _ = target.ExecContext(ctx, "PRAGMA journal_mode = delete")
	return r.events, errors.Join(err, target.Close(), db.Close())
}

// rescuer copies rows. The source is nil when it could not even be opened.
type rescuer struct {
	source, target *sql.Conn
	events         int64
}

// tables are those whose rows are copied, with their columns, the newer of which an old file may not have.
var tables = []struct {
	name, key string
	columns   []string
}{
	{"session_meta", "rowid", []string{"session_id", "parent_session_id", "profile", "status", "depth", "started_at", "ended_at", "command", "project", "head_sequence", "head_hash"}},
	{"events", "sequence", []string{"sequence", "id", "timestamp", "kind", "producer_category", "producer_name", "producer_version", "schema_version", "payload", "hash"}},
	{"output", "rowid", []string{"call_id", "timestamp", "stream", "data", "skipped"}},
	{"plan_items", "rowid", []string{"event_sequence", "turn_id", "tool_call_id", "provider_name", "tool_name", "decision", "decided_by"}},
	{"cost_ledger", "rowid", []string{"event_sequence", "provider_name", "model_id", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost_usd"}},
}

func (r *rescuer) all(ctx context.Context, path string) error {
	for _, t := range tables {
		n, err := r.table(ctx, t.name, t.key, t.columns)
		if err != nil {
			return err
		}
		if t.name == "events" {
			r.events = n
		}
	}
	// Whatever was there, a session has an identity, and is over.
	_, err := r.target.ExecContext(ctx, `INSERT INTO session_meta (session_id, parent_session_id, profile, status, depth, started_at, ended_at)
		SELECT ?, '', '', 'failed', 0, ?, '' WHERE NOT EXISTS (SELECT 1 FROM session_meta)`, pathID(path), formatTime(idTime(pathID(path))))
	if err != nil {
		return err
	}
	_, err = r.target.ExecContext(ctx, `INSERT INTO producers (category, name, version, first_seen_sequence)
		SELECT producer_category, producer_name, producer_version, min(sequence) FROM events GROUP BY 1, 2, 3`)
	return err
}

// probeLimit bounds how many rows between two damaged places are asked for one by one.
const probeLimit = 1 << 20

// table copies what can be read of a table: from its beginning to the first damage, from its end back to the last, and
// every row between them that answers.
func (r *rescuer) table(ctx context.Context, name, key string, columns []string) (n int64, err error) {
	if r.source == nil {
		return 0, nil
	}
	columns = r.present(ctx, name, columns)
	if len(columns) == 0 {
		return 0, nil
	}
	c := copier{rescuer: r, columns: len(columns)}
	selection := fmt.Sprintf("SELECT %s, %s FROM %s", key, strings.Join(columns, ", "), name)
	c.insert = fmt.Sprintf("INSERT OR IGNORE INTO %s (rowid, %s) VALUES (?%s)", name, strings.Join(columns, ", "), strings.Repeat(", ?", len(columns)))
	if key == columns[0] { // it is the rowid
		c.insert = fmt.Sprintf("INSERT OR IGNORE INTO %s (%s) VALUES (?%s)", name, strings.Join(columns, ", "), strings.Repeat(", ?", len(columns)-1))
		c.keyed = true
	}
	first, whole, err := c.scan(ctx, selection+" ORDER BY "+key)
	if whole || err != nil {
		return c.count, err
	}
	last, _, err := c.scan(ctx, fmt.Sprintf("%s WHERE %s > %d ORDER BY %s DESC", selection, key, first, key))
	if err != nil {
		return c.count, err
	}
	if last == 0 { // the end is damaged too
		last = first + 1024
	}
	for k := first + 1; k < last && k-first < probeLimit; k++ {
		if _, _, err := c.scan(ctx, fmt.Sprintf("%s WHERE %s = %d", selection, key, k)); err != nil {
			return c.count, err
		}
	}
	return c.count, nil
}

// present are those of the columns that the damaged file has.
func (r *rescuer) present(ctx context.Context, table string, columns []string) (have []string) {
	for _, column := range columns {
		rows, err := r.source.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %s LIMIT 0", column, table))
		if err == nil {
			have = append(have, column)
			_ = rows.Close()
		}
	}
	return have
}

// copier copies the rows of one table.
type copier struct {
	*rescuer
	columns int
	insert  string
	keyed   bool // the key is the first column
	count   int64
}

// scan copies rows until the end or the first damage. The error is one of the target.
func (c *copier) scan(ctx context.Context, query string) (last int64, whole bool, err error) {
	rows, err := c.source.QueryContext(ctx, query)
	if err != nil {
		return 0, false, nil
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		values := make([]any, c.columns+1)
		into := make([]any, len(values))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return last, false, nil
		}
		key, ok := values[0].(int64)
		if !ok {
			return last, false, nil
		}
		if c.keyed {
			values = values[1:]
		}
		result, err := c.target.ExecContext(ctx, c.insert, values...)
		if err != nil {
			if isDamage(err) || isConstraint(err) {
				continue // a row that makes no sense
			}
			return last, false, err
		}
		added, err := result.RowsAffected()
		if err != nil {
			return last, false, err
		}
		last = key
		c.count += added
	}
	return last, rows.Err() == nil, nil
}

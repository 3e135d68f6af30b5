package session

import (
	"context"
	"database/sql"
	"fmt"
)

// migrations take a file from the version before to the version of their place in the list, counted from 1. A released
// one never changes: what is new is a migration more.
var migrations = []string{
	// 1: the tables as every version has them.
	`CREATE TABLE events (
		sequence INTEGER PRIMARY KEY AUTOINCREMENT,
		id TEXT NOT NULL,
		timestamp TEXT NOT NULL,
		kind TEXT NOT NULL,
		producer_category TEXT NOT NULL,
		producer_name TEXT NOT NULL,
		producer_version TEXT NOT NULL,
		schema_version TEXT NOT NULL,
		payload BLOB NOT NULL,
		hash BLOB NOT NULL
	);
	CREATE TABLE session_meta (
		session_id TEXT PRIMARY KEY,
		parent_session_id TEXT NOT NULL,
		profile TEXT NOT NULL,
		status TEXT NOT NULL,
		depth INTEGER NOT NULL,
		started_at TEXT NOT NULL,
		ended_at TEXT NOT NULL
	);
	CREATE TABLE cost_ledger (
		event_sequence INTEGER NOT NULL,
		provider_name TEXT NOT NULL,
		model_id TEXT NOT NULL,
		input_tokens INTEGER NOT NULL,
		output_tokens INTEGER NOT NULL,
		cache_read_tokens INTEGER NOT NULL,
		cache_write_tokens INTEGER NOT NULL,
		cost_usd REAL NOT NULL
	);
	CREATE TABLE plan_items (
		event_sequence INTEGER NOT NULL,
		turn_id TEXT NOT NULL,
		tool_call_id TEXT NOT NULL,
		provider_name TEXT NOT NULL,
		tool_name TEXT NOT NULL,
		decision TEXT NOT NULL,
		decided_by TEXT NOT NULL
	);
	CREATE TABLE producers (
		category TEXT NOT NULL,
		name TEXT NOT NULL,
		version TEXT NOT NULL,
		first_seen_sequence INTEGER NOT NULL,
		PRIMARY KEY (category, name, version)
	) WITHOUT ROWID;`,
	// 2: what calls print, where a session comes from, and where its chain ended.
	`CREATE TABLE output (
		call_id TEXT NOT NULL,
		timestamp TEXT NOT NULL,
		stream TEXT NOT NULL,
		data BLOB NOT NULL,
		skipped INTEGER NOT NULL
	);
	CREATE INDEX output_of_call ON output (call_id);
	ALTER TABLE session_meta ADD COLUMN command TEXT NOT NULL DEFAULT '';
	ALTER TABLE session_meta ADD COLUMN project TEXT NOT NULL DEFAULT '';
	ALTER TABLE session_meta ADD COLUMN head_sequence INTEGER NOT NULL DEFAULT 0;
	ALTER TABLE session_meta ADD COLUMN head_hash BLOB NOT NULL DEFAULT x'';
	ALTER TABLE producers ADD COLUMN source TEXT NOT NULL DEFAULT '';`,
	// 3: the tables of 2, and beside them perhaps a tail. Who knows none would read a session without its newest events, and
	// write others with their numbers.
	`-- nothing to change`,
}

// readVersion is the version that a file is brought to for being read: that of its tables. A later one says how it is
// written, and whoever wrote an older one goes on to be able to read it.
const readVersion = 2

// NewerError is a file of a version that this build does not know. Nothing of it was changed.
type NewerError struct {
	Path          string
	Version, Have int
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("%s was written by a newer agent (version %d of the format, this one knows %d): use that agent to read it; the file was left as it is",
		e.Path, e.Version, e.Have)
}

func version(ctx context.Context, c *sql.Conn) (v int, err error) {
	err = c.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	return v, err
}

// migrate brings a file to a version, all of it or nothing.
func migrate(ctx context.Context, c *sql.Conn, path string, to int) error {
	v, err := version(ctx, c)
	if err != nil {
		return err
	}
	if v > len(migrations) {
		return &NewerError{Path: path, Version: v, Have: len(migrations)}
	}
	if v >= to {
		return nil
	}
	return transact(ctx, c, func() error {
		// Another process may have been faster.
		if v, err = version(ctx, c); err != nil {
			return err
		}
		for ; v < to; v++ {
			if _, err := c.ExecContext(ctx, migrations[v]); err != nil {
				return fmt.Errorf("cannot bring %s to version %d of the format: %w", path, v+1, err)
			}
		}
		_, err := c.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", v))
		return err
	})
}

// transact runs work in a transaction that has the right to write from its first moment, so that it cannot find out in
// the middle that somebody else has it.
func transact(ctx context.Context, c *sql.Conn, work func() error) error {
	if _, err := c.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := work()
	if err == nil {
		_, err = c.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		// A failed COMMIT may have ended the transaction already.
		_, _ = c.ExecContext(ctx, "ROLLBACK")
	}
	return err
}

package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// busyTimeout is how long one process waits for another's write lock.
	busyTimeout = 10 * time.Second
	extension   = ".sqlite"
)

// dsn opens a file. busy_timeout comes first: everything after it may have to wait for a lock. Each connection of a
// pool gets all of it.
func dsn(path string, more ...string) string {
	query := fmt.Sprintf("_pragma=busy_timeout(%d)&_pragma=synchronous(normal)&_pragma=trusted_schema(off)", busyTimeout.Milliseconds())
	for _, m := range more {
		query += "&" + m
	}
	return uri(path, query)
}

// uri names a file, whatever characters its path has.
func uri(path, query string) string {
	slashed := filepath.ToSlash(path)
	if runtime.GOOS == "windows" && !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: query}).String()
}

// createFile makes the file of a session, for its owner alone, before SQLite does: its journals get the same mode. It
// reports whether it was not there.
func createFile(path string) (made bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

// openWriter opens a file to write, which may be empty, and brings it to the current version. warning says
// why it is not kept in the way it should be; empty when it is.
func openWriter(ctx context.Context, path string) (db *sql.DB, c *sql.Conn, warning string, err error) {
	if db, err = sql.Open("sqlite", dsn(path, "_pragma=wal_autocheckpoint(0)")); err != nil {
		return nil, nil, "", err
	}
	fail := func(err error) (*sql.DB, *sql.Conn, string, error) {
		if c != nil {
			err = errors.Join(err, c.Close())
		}
		return nil, nil, "", errors.Join(err, db.Close())
	}
	if c, err = db.Conn(ctx); err != nil {
		return fail(err)
	}
	// Before anything is written: a newer file stays as it is.
	v, err := version(ctx, c)
	if err != nil {
		return fail(err)
	}
	if v > len(migrations) {
		return fail(&NewerError{Path: path, Version: v, Have: len(migrations)})
	}
	if v == 0 { // there is nothing in it yet that the disk would have to have
		if err := synchronous(ctx, c, "off"); err != nil {
			return fail(err)
		}
	}
	if warning, err = journalMode(ctx, c, path); err != nil {
		return fail(err)
	}
	if err := migrate(ctx, c, path, len(migrations)); err != nil {
		return fail(err)
	}
	if warning == "" {
		err = synchronous(ctx, c, "normal")
	}
	if err != nil {
		return fail(err)
	}
	return db, c, warning, nil
}

// synchronous says how much is waited for the disk itself.
func synchronous(ctx context.Context, c *sql.Conn, how string) error {
	_, err := c.ExecContext(ctx, "PRAGMA synchronous = "+how)
	return err
}

// single takes the write-ahead log into the file and ends that mode, so that a session is one file, which can be copied
// and read from anywhere. Another process may have the file open, which then leaves the mode as it is: nothing is lost by
// that.
func single(ctx context.Context, c *sql.Conn) {
	var busy, logged, taken int
	err := c.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &logged, &taken)
	if err == nil && busy == 0 && logged == taken {
		// The disk has it all now, and what changes the mode is one page, which will be the old one or the new one.
		_ = synchronous(ctx, c, "off")
	}
	var mode string
	_ = c.QueryRowContext(ctx, "PRAGMA journal_mode = delete").Scan(&mode)
}

// journalMode chooses how the file is written. The write-ahead log needs memory that all processes share, which no
// network file system has.
func journalMode(ctx context.Context, c *sql.Conn, path string) (warning string, err error) {
	kind, err := networkKind(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	reason := ""
	if kind == "" {
		mode, err := setJournal(ctx, c, "wal")
		if err != nil {
			return "", err
		}
		if mode == "wal" {
			return "", nil
		}
		reason = "its file system does not let it have a write-ahead log"
	} else {
		reason = "it is on a network file system (" + kind + ")"
	}
	mode, err := setJournal(ctx, c, "delete")
	if err != nil {
		return "", err
	}
	if mode != "delete" {
		return "", fmt.Errorf("cannot keep the session log in %s: it has neither a write-ahead log nor a rollback journal there (%s); set XDG_STATE_HOME to a local folder", filepath.Dir(path), mode)
	}
	if err := synchronous(ctx, c, "full"); err != nil {
		return "", err
	}
	return fmt.Sprintf("the session log %s is written more slowly: %s. Set XDG_STATE_HOME to a local folder to change that", path, reason), nil
}

// setJournal asks for a mode and returns the one that is in force then. SQLite does not wait for locks to change it.
func setJournal(ctx context.Context, c *sql.Conn, mode string) (got string, err error) {
	for deadline := time.Now().Add(busyTimeout); ; time.Sleep(5 * time.Millisecond) {
		err = c.QueryRowContext(ctx, "PRAGMA journal_mode = "+mode).Scan(&got)
		if err == nil || !isCode(err, sqlite3.SQLITE_BUSY) || time.Now().After(deadline) {
			return got, err
		}
	}
}

// setBusyTimeout says how long a connection waits for others from now on.
func setBusyTimeout(ctx context.Context, c *sql.Conn, d time.Duration) error {
	_, err := c.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", d.Milliseconds()))
	return err
}

// isCode reports whether err is one of SQLite, whatever its extended code.
func isCode(err error, codes ...int) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	for _, code := range codes {
		if e.Code()&0xff == code {
			return true
		}
	}
	return false
}

// noRoom reports whether err says that a disk is full, which SQLite finds out in several ways.
func noRoom(err error) bool { return isCode(err, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR) }

// isDamage reports whether err says that a file is not what it should be.
func isDamage(err error) bool { return isCode(err, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) }

// isConstraint reports whether err says that a row does not fit its table.
func isConstraint(err error) bool {
	return isCode(err, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH)
}

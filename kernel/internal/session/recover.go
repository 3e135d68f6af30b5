package session

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// takeTail takes into the database what the tail has beyond it: what a writer that was killed has left, or what one that
// lives has reported and not taken in yet. Several may do so at once, and the writer too. The tail itself is taken away
// only when nobody writes the session, so that it has served.
func (f *File) takeTail(ctx context.Context) error {
	if _, is, err := hasTail(f.at); err != nil || !is {
		return err
	}
	lock, free, err := share(f.at)
	if err != nil {
		return err
	}
	if free {
		defer func() { _ = lock.Unlock() }()
	}
	left, err := readTail(f.at, f.meta.ID, !free || f.live)
	if err != nil {
		return err
	}
	err = f.take(ctx, left)
	if f.at == f.path && (noRoom(err) || isCode(err, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_READONLY)) {
		return f.takeInCopy(ctx)
	}
	if err != nil || !free {
		return err
	}
	if left.damage != "" {
		return f.keepDamaged(ctx, left.damage)
	}
	return remove(tailOf(f.at))
}

// takeInCopy goes on with a copy, since the database takes nothing in: its disk is full, it cannot be written from here, or
// the writer does not let go of it, which was stopped in the middle of a commit.
func (f *File) takeInCopy(ctx context.Context) error {
	_ = f.db.Close()
	f.sound = false
	if err := f.connectCopy(ctx); err != nil {
		return err
	}
	return f.takeTail(ctx)
}

// patience is how long the writer is waited for, which takes in a few megabytes at most.
const patience = 2 * time.Second

func (f *File) take(ctx context.Context, left leftover) error {
	conn, err := f.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := setBusyTimeout(ctx, conn, patience); err != nil {
		return err
	}
	defer func() { _ = setBusyTimeout(ctx, conn, busyTimeout) }()
	s, err := newStore(ctx, conn, f.meta.ID)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.locate(ctx); err != nil {
		return err
	}
	if !slices.ContainsFunc(left.rows, func(r row) bool { return !s.has(&r) }) {
		return nil
	}
	// On a damaged file nothing can be built.
	if err := f.intact(ctx); err != nil {
		return err
	}
	return s.take(ctx, left.rows)
}

// keepDamaged puts a damaged tail aside.
func (f *File) keepDamaged(ctx context.Context, cause string) error {
	kept := tailOf(f.path)
	if f.at != f.path {
		return f.salvaged(ctx, cause, kept)
	}
	kept = f.path + corrupt + time.Now().UTC().Format(corruptLayout) + tailSuffix
	if err := os.Rename(tailOf(f.path), kept); err != nil {
		return fmt.Errorf("%s is damaged (%s), and it cannot be put aside: %w", tailOf(f.path), cause, err)
	}
	return f.salvaged(ctx, cause, kept)
}

// salvaged notes that the tail was damaged, and where it is.
func (f *File) salvaged(ctx context.Context, cause, kept string) error {
	s := f.Salvage
	if s == nil {
		s = &Salvage{Cause: cause, Kept: kept}
		f.Salvage = s
	} else {
		s.Cause += "; " + cause
	}
	return f.db.QueryRowContext(ctx, "SELECT count(*) FROM events").Scan(&s.Events)
}

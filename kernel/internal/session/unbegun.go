package session

import (
	"context"
	"errors"
	"os"
	"time"
)

// begin waits for a writer that is about to begin a session, or does that for one that was killed meanwhile: then it is a
// session in which nothing happened, and no damaged one. That there was a writer its lock tells, which comes before the
// file and goes after it.
func (f *File) begin(ctx context.Context) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(lockPause) {
		if _, err := os.Lstat(lockOf(f.path)); err != nil {
			return f.connect(ctx, "mode=rw") // it may have ended by now
		}
		lock, free, err := seize(f.path)
		if err != nil {
			return errors.Join(errEmpty, err)
		}
		if err = f.connect(ctx, "mode=rw"); errors.Is(err, errEmpty) && free && beginFor(ctx, f.path) == nil {
			err = f.connect(ctx, "mode=rw")
		}
		if free {
			return errors.Join(err, release(lock))
		}
		if !errors.Is(err, errEmpty) || time.Now().After(deadline) {
			return err
		}
	}
}

// beginFor begins a session whose writer was killed before it had.
func beginFor(ctx context.Context, path string) error {
	db, conn, _, err := openWriter(ctx, path)
	if err != nil {
		return err
	}
	s, err := newStore(ctx, conn, pathID(path))
	if err == nil {
		if err = s.locate(ctx); err == nil && s.sequence > 0 {
			err = errEmpty // it was begun, and what it was is lost
		}
		if err == nil {
			err = s.begin(ctx, &Meta{ID: pathID(path), Started: idTime(pathID(path))})
		}
		s.close()
	}
	single(ctx, conn)
	return errors.Join(err, conn.Close(), db.Close())
}

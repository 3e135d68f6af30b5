package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// open opens the files, once.
func (w *writer) open(ctx context.Context) error {
	if w.store != nil {
		return nil
	}
	if w.failed != nil && time.Since(w.tried) < retryPause {
		return w.failed
	}
	w.tried = time.Now()
	if w.failed = w.tryOpen(ctx); w.failed != nil {
		w.failed = w.refusal(w.failed)
	}
	return w.failed
}

func (w *writer) tryOpen(ctx context.Context) (err error) {
	if err := w.mend(ctx); err != nil {
		return err
	}
	if w.lock, err = hold(ctx, w.path); err != nil {
		return err
	}
	made, err := createFile(w.path)
	if err == nil {
		err = w.start(ctx)
	}
	if err != nil && made { // else the half of a file would be taken for a damaged one
		err = errors.Join(err, removeDatabase(w.path))
	}
	if err != nil {
		return errors.Join(err, release(w.lock))
	}
	return nil
}

// start opens the database and goes on with it; when that fails, nothing of it stays open.
func (w *writer) start(ctx context.Context) (err error) {
	var warning string
	if w.db, w.conn, warning, err = openWriter(ctx, w.path); err != nil {
		return err
	}
	if err = w.begin(ctx, warning == ""); err != nil {
		return errors.Join(err, w.shut())
	}
	if warning != "" {
		w.warn(warning)
	}
	return nil
}

// shut closes the database.
func (w *writer) shut() error {
	if w.store != nil {
		w.store.close()
		w.store = nil
	}
	return errors.Join(w.conn.Close(), w.db.Close())
}

// mend looks after a session that is there already and that nobody writes: on a damaged file nothing can be built.
func (w *writer) mend(ctx context.Context) error {
	info, err := os.Stat(w.path)
	if err != nil || info.Size() == 0 || alive(w.path) {
		return nil // what is wrong with it, opening it will tell
	}
	f, err := Open(ctx, w.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if s := f.Salvage; s != nil {
		w.warn(fmt.Sprintf("the session log %s was damaged (%s): %d events of it could be read and are kept; the damaged file is %s", w.path, s.Cause, s.Events, s.Kept))
	}
	return nil
}

// begin goes on where the log ends, with a tail or without.
func (w *writer) begin(ctx context.Context, tail bool) (err error) {
	if w.store, err = newStore(ctx, w.conn, w.meta.ID); err != nil {
		return err
	}
	if err := w.store.begin(ctx, &w.meta); err != nil {
		return err
	}
	// One may have been killed since it was looked after.
	left, err := readTail(w.path, w.meta.ID, false)
	if err == nil {
		err = w.store.take(ctx, left.rows)
	}
	if err != nil {
		return err
	}
	w.sequence, w.output = w.store.sequence, w.store.output
	if !tail {
		return remove(tailOf(w.path))
	}
	w.tail, err = createTail(w.path, w.meta.ID)
	return err
}

// seal takes all in, records the end and closes the file, which is all of the session then. A tail that could not be taken
// in is left to who opens the session next.
func (w *writer) seal(turn chan struct{}) error {
	w.pass(turn)
	turn <- struct{}{}
	defer func() { <-turn }()
	if w.store == nil {
		return nil
	}
	ctx := context.Background()
	if w.saving != nil {
		<-w.saving
	}
	err := w.stuck
	if err == nil {
		err = w.store.end(ctx, w.status)
	}
	if w.stuck == nil { // else it would be waited for once more
		single(ctx, w.conn)
	}
	err = errors.Join(err, w.shut())
	if w.tail != nil {
		err = errors.Join(err, w.tail.close())
		if w.stuck == nil {
			err = errors.Join(err, remove(tailOf(w.path)))
		}
		w.tail = nil
	}
	return errors.Join(err, release(w.lock))
}

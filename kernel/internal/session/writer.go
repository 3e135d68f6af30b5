package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"
)

const (
	// OutputLimit is how much output of one call is kept, in bytes: the first of it. What a call has to say at its end is
	// in its result.
	OutputLimit = 1 << 20
	// groupLimit bounds what shares a commit.
	groupLimit = 512
	// groupPause is how long entries that nobody waits for may wait for more.
	groupPause = 5 * time.Millisecond
	// retryPause is how long a file that could not be opened is left alone.
	retryPause = time.Second
	// checkpointAfter is how many bytes of entries are written before the write-ahead log is taken into the file.
	checkpointAfter = 8 << 20
)

// run is the writer.
func (l *Log) run() {
	defer close(l.stopped)
	w := &writer{path: l.path, meta: &l.meta, warn: l.warn, printed: map[string]printed{}}
	for first := range l.queue {
		w.write(l.gather(first))
	}
	l.sealed = w.seal()
}

// gather takes what there is. While nobody waits for it, it waits a moment for more: the beginning of a short call shares a
// commit with its end, and a program that prints byte by byte does not make a commit of each.
func (l *Log) gather(first entry) []entry {
	group := []entry{first}
	pause := time.NewTimer(groupPause)
	defer pause.Stop()
	hurry := false
	for len(group) < groupLimit {
		select {
		case e, ok := <-l.queue:
			if !ok {
				return group
			}
			group = append(group, e)
			continue
		default:
		}
		if hurry {
			return group
		}
		select {
		case e, ok := <-l.queue:
			if !ok {
				return group
			}
			group = append(group, e)
		case <-l.hurry:
			hurry = true // what is awaited may still be in the queue
		case <-pause.C:
			return group
		}
	}
	return group
}

// writer owns the file. It is used by one goroutine.
type writer struct {
	path string
	meta *Meta
	warn func(string)

	lock   *flock.Flock
	db     *sql.DB
	conn   *sql.Conn
	insert statements
	failed error     // why the file could not be opened
	tried  time.Time // and when

	chain    *Chain
	sequence int64 // of the last event
	seen     int64 // data_version that chain and sequence belong to
	known    bool  // whether they are known
	producer map[Producer]bool
	printed  map[string]printed // of the calls that run
	unsaved  int                // bytes since the last checkpoint
	saving   chan struct{}
}

// printed is what is known of the output of a call that runs.
type printed struct {
	kept    int
	skipped int64 // bytes that no row tells of yet
}

// open opens the file, once.
func (w *writer) open(ctx context.Context) error {
	if w.conn != nil {
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
	if w.lock, err = hold(w.path); err != nil {
		return err
	}
	var warning string
	if w.db, w.conn, warning, err = openWriter(ctx, w.path); err == nil {
		if err = w.prepare(ctx); err != nil {
			err = errors.Join(err, w.db.Close())
		}
	}
	if err != nil {
		w.conn, w.db = nil, nil
		return errors.Join(err, release(w.lock))
	}
	if warning != "" {
		w.warn(warning)
	}
	w.chain, w.producer = NewChain(w.meta.ID), map[Producer]bool{}
	return nil
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

// write commits a group and tells those who wait.
func (w *writer) write(group []entry) {
	ctx := context.Background() // what was handed over is written, whatever becomes of the call
	err := w.open(ctx)
	var sequences []int64
	if err == nil {
		if sequences, err = w.commit(ctx, group); err != nil {
			err = w.refusal(err)
		}
	}
	if err != nil {
		w.lose(group)
	}
	for i, e := range group {
		if e.receipt == nil {
			continue
		}
		if err != nil {
			e.receipt.finish(0, err)
		} else {
			e.receipt.finish(sequences[i], nil)
		}
	}
	if err == nil {
		w.checkpoint(ctx, group)
	}
}

// refusal says what cannot be done, and what to do.
func (w *writer) refusal(cause error) error {
	var newer *NewerError
	if errors.As(cause, &newer) {
		return cause
	}
	return fmt.Errorf("cannot write the session log %s: %w; make room, or set XDG_STATE_HOME to a folder that can be written", w.path, cause)
}

// lose counts the output of a group that could not be written, so that the next row can say that it is missing.
func (w *writer) lose(group []entry) {
	w.known, w.producer = false, map[Producer]bool{}
	for _, e := range group {
		if e.output != nil {
			p := w.printed[e.output.CallID]
			p.skipped += int64(len(e.output.Data)) + e.output.Skipped
			w.printed[e.output.CallID] = p
		}
	}
}

// checkpoint takes a long write-ahead log into the file now and then, beside the writing: nobody who waits for a receipt
// waits for the disk.
func (w *writer) checkpoint(ctx context.Context, group []entry) {
	for _, e := range group {
		w.unsaved += len(e.event.Payload) + 1024
		if e.output != nil {
			w.unsaved += len(e.output.Data)
		}
	}
	if w.unsaved < checkpointAfter {
		return
	}
	if w.saving != nil {
		select {
		case <-w.saving:
		default:
			return // the last one is still at it
		}
	}
	w.unsaved, w.saving = 0, make(chan struct{})
	go func(done chan<- struct{}) {
		defer close(done)
		_, _ = w.db.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)") // the next one, or the end, makes good for it
	}(w.saving)
}

// seal records the end and closes the file. Out of the write-ahead log mode the session is one file, which can be copied
// and read from anywhere.
func (w *writer) seal() error {
	if w.conn == nil {
		return nil
	}
	ctx := context.Background()
	if w.saving != nil {
		<-w.saving
	}
	err := transact(ctx, w.conn, func() error {
		if err := w.catchUp(ctx); err != nil {
			return err
		}
		_, err := w.conn.ExecContext(ctx,
			"UPDATE session_meta SET status = ?, ended_at = ?, head_sequence = ?, head_hash = ? WHERE session_id = ?",
			string(w.meta.Status), formatTime(time.Now()), w.sequence, w.chain.Head(), w.meta.ID)
		return err
	})
	w.insert.close()
	var mode string
	// Another process may have the file open, which then leaves the mode as it is: nothing is lost by that.
	_ = w.conn.QueryRowContext(ctx, "PRAGMA journal_mode = delete").Scan(&mode)
	return errors.Join(err, w.conn.Close(), w.db.Close(), release(w.lock))
}

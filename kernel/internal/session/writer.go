package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/flock"
)

const (
	// retryPause is how long a file that could not be opened is left alone.
	retryPause = time.Second
	// tailLimit is how long the tail becomes, in bytes, before everybody waits for the database to have all of it.
	tailLimit = 4 << 20
)

// writer owns the files of a session. All of it but what says otherwise is used by who holds the turn of the log.
type writer struct {
	path   string
	meta   Meta
	status Status // how the session ended; set before the end
	warn   func(string)
	queue  *queue

	lock *flock.Flock
	db   *sql.DB
	conn *sql.Conn
	// store is used by the goroutine of the log alone, with the turn or without it.
	store *store
	// tail is nil until the files are open, and where all processes do not see what one has written at once: on a network
	// file system. What is waited for there is waited for until the database has it.
	tail   *tail
	failed error     // why the files could not be opened
	tried  time.Time // and when

	sequence, output int64 // the numbers given last
	group            []row // memory for rows on their way to the tail
	backlog          []row // what is in the tail, and not in the database
	spare            []row // memory for the next backlog
	stuck            error // why the database did not take it in

	unsaved int // bytes since the last checkpoint
	logged  int // bytes since the last one beside which nothing was written
	saving  chan struct{}
}

// opened reports whether the files are open. It is for the goroutine of the log.
func (w *writer) opened() bool { return w.store != nil }

// ready reports whether what is queued can go to the tail.
func (w *writer) ready() bool { return w.tail != nil && w.stuck == nil }

// number gives the rows of a group their numbers.
func (w *writer) number(group []row) {
	for i := range group {
		if group[i].kind == rowOutput {
			w.output++
			group[i].n = w.output
		} else {
			w.sequence++
			group[i].n = w.sequence
		}
	}
}

// flush writes what is queued to the tail, and tells those who wait.
func (w *writer) flush() {
	group := w.queue.take(w.group)
	if len(group) == 0 {
		w.group = group
		return
	}
	sequence, output := w.sequence, w.output
	w.number(group)
	err := w.tail.write(group)
	if err != nil {
		w.sequence, w.output = sequence, output
		err = w.refusal(err)
		w.queue.lost(group)
	} else {
		w.backlog = append(w.backlog, group...)
	}
	finish(group, err)
	w.group = reused(group)
}

// reused is the memory of rows that are of no use any more, unless it is much.
func reused(rows []row) []row {
	clear(rows)
	if cap(rows) > 1024 {
		return nil
	}
	return rows[:0]
}

// finish tells those who wait what became of a group.
func finish(group []row, err error) {
	for i := range group {
		switch r := &group[i]; {
		case r.receipt == nil:
		case err != nil:
			r.receipt.finish(0, err)
		default:
			r.receipt.finish(r.n, nil)
		}
	}
}

// refuse gives up what is queued.
func (w *writer) refuse(err error) {
	group := w.queue.take(nil)
	w.queue.lost(group)
	finish(group, err)
}

// pass takes all that there is into the database. It is for the goroutine of the log.
func (w *writer) pass(turn chan struct{}) {
	ctx := context.Background() // what was handed over is written, whatever becomes of the call
	turn <- struct{}{}
	defer func() { <-turn }()
	if w.store == nil && w.queue.empty() {
		return
	}
	if err := w.open(ctx); err != nil {
		w.refuse(err)
		return
	}
	if w.tail == nil {
		w.commit(ctx)
		return
	}
	if w.stuck != nil && !w.settle(ctx) {
		w.refuse(w.stuck)
		return
	}
	w.flush()
	rows := w.backlog
	w.backlog, w.spare = w.spare, nil
	<-turn // meanwhile others write to the tail
	err := w.store.take(ctx, rows)
	w.shorten(ctx)
	turn <- struct{}{}
	if err != nil {
		w.backlog = append(rows, w.backlog...)
		w.jam(err)
		return
	}
	w.taken(ctx, rows)
	w.spare = reused(rows)
	if len(w.backlog) > 0 && w.tail.at > tailLimit {
		w.flush()
		w.settle(ctx)
	} else if len(w.backlog) == 0 {
		w.tail.reset()
	}
}

// settle takes in what the tail has beyond the database, while nobody can write to it, and begins the tail anew.
func (w *writer) settle(ctx context.Context) bool {
	if err := w.store.take(ctx, w.backlog); err != nil {
		w.jam(err)
		return false
	}
	w.taken(ctx, w.backlog)
	w.backlog = reused(w.backlog)
	w.tail.reset()
	w.jam(nil)
	return true
}

// jam notes that the database does not take in what the tail has, or that it does again. Meanwhile nothing more is taken
// on: what is in the tail stays there, and is kept.
func (w *writer) jam(err error) {
	if err != nil {
		err = w.refusal(err)
	}
	w.stuck = err
	w.queue.jam(err != nil)
}

// commit writes what is queued into the database, without a tail, and tells those who wait.
func (w *writer) commit(ctx context.Context) {
	group := w.queue.take(nil)
	if len(group) == 0 {
		return
	}
	sequence, output := w.sequence, w.output
	w.number(group)
	err := w.store.take(ctx, group)
	if err != nil {
		w.sequence, w.output = sequence, output
		err = w.refusal(err)
		w.queue.lost(group)
	}
	finish(group, err)
	if err == nil {
		w.taken(ctx, group)
	}
}

// taken makes room for more, and takes a long write-ahead log into the file now and then.
func (w *writer) taken(ctx context.Context, rows []row) {
	w.queue.freed(rows)
	for i := range rows {
		w.unsaved += rows[i].size()
		w.logged += rows[i].size()
	}
	w.save(ctx, checkpointAfter)
}

// save takes the write-ahead log into the file, beside the writing, if that has so many bytes that the file has not.
func (w *writer) save(ctx context.Context, least int) {
	if w.unsaved < least {
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

// logLimit is how much is written, in bytes of rows, before the write-ahead log is waited for. It begins anew when all of it
// is in the file, which never comes about while it goes on beside that.
const logLimit = 2 * checkpointAfter

// shorten takes a long write-ahead log into the file with nothing written beside.
func (w *writer) shorten(ctx context.Context) {
	if w.logged < logLimit {
		return
	}
	if w.saving != nil {
		<-w.saving
	}
	w.logged, w.unsaved = 0, 0
	_, _ = w.conn.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)") // somebody may read it; the next one makes good for it
}

// refusal says what cannot be done, and what to do.
func (w *writer) refusal(cause error) error {
	var newer *NewerError
	if errors.As(cause, &newer) {
		return cause
	}
	return fmt.Errorf("cannot write the session log %s: %w; make room, or set XDG_STATE_HOME to a folder that can be written", w.path, cause)
}

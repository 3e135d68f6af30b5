package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/oklog/ulid/v2"
)

// Log writes one session. Its methods may be called from many goroutines; one goroutine of its own takes what is written
// into the database. The file comes to be with the first entry, so that a session in which nothing happens leaves nothing.
type Log struct {
	path  string
	queue *queue
	// turn is held by whoever writes what is queued, which is also what numbers it.
	turn   chan struct{}
	writer *writer // used by who holds the turn

	news    chan struct{} // something is queued
	hurry   chan struct{} // somebody waits for the writer's goroutine, or there is much; one is as good as many
	ending  chan struct{} // closed when nothing more will be queued
	stopped chan struct{} // closed when that goroutine has ended
	sealed  error         // how that went; to be read after stopped
}

// Entry is what is appended at once: an event, and the rows that find it. All of it is the log's from then on, also when it
// was waited for.
type Entry struct {
	Kind          Kind
	Producer      Producer
	SchemaVersion string
	Payload       []byte
	// CallID is the call whose output the hash of a tool_result covers.
	CallID string
	// Items are the rows of a plan.
	Items []PlanItem
	// ID is the id of the event. Default: a new ULID.
	ID string
}

// ErrClosed is the answer of a log that has been closed.
var ErrClosed = errors.New("the session has ended")

// NewLog begins the log of a session in a folder. Nothing is written before the first entry. warn, which may be nil, is
// told at most once that the log is kept differently from how it should be. The caller ends the log with Close.
func NewLog(folder string, meta Meta, warn func(string)) (*Log, error) {
	if !isID(meta.ID) {
		return nil, fmt.Errorf("%q is no id of a session: it must be an ULID", meta.ID)
	}
	if warn == nil {
		warn = func(string) {}
	}
	if meta.Started.IsZero() {
		meta.Started = time.Now()
	}
	path, q := filepath.Join(folder, meta.ID+extension), newQueue()
	l := &Log{
		path: path, queue: q, writer: &writer{path: path, meta: meta, warn: warn, queue: q},
		turn: make(chan struct{}, 1), news: make(chan struct{}, 1), hurry: make(chan struct{}, 1),
		ending: make(chan struct{}), stopped: make(chan struct{}),
	}
	go l.run()
	return l, nil
}

// Path is where the session is, or will be.
func (l *Log) Path() string { return l.path }

// Append queues an event and returns at once; the Receipt tells when it is kept. Events are in the log in the order in
// which they were appended.
func (l *Log) Append(e Entry) *Receipt {
	if e.ID == "" {
		e.ID = ulid.Make().String()
	}
	if e.SchemaVersion == "" {
		e.SchemaVersion = SchemaVersion
	}
	r := &Receipt{log: l, done: make(chan struct{})}
	much, open := l.queue.append(row{kind: rowEvent, event: e, at: time.Now(), receipt: r})
	if !open {
		r.finish(0, ErrClosed)
		return r
	}
	l.tell(much)
	return r
}

// Print queues what a call has printed and returns at once. The data is the log's from then on. Of one call OutputLimit
// bytes are kept; of the rest only how much it was.
func (l *Log) Print(o Output) {
	if len(o.Data) == 0 && o.Skipped == 0 {
		return
	}
	if o.Time.IsZero() {
		o.Time = time.Now()
	}
	l.tell(l.queue.print(o))
}

// tell has the writer's goroutine look after what is queued: soon, or now.
func (l *Log) tell(now bool) {
	signal(l.news)
	if now {
		signal(l.hurry)
	}
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // it was told already and has not looked yet
	}
}

// write writes what is queued, for one who waits for it and holds the turn. What cannot be written by everybody is left
// to the writer's goroutine.
func (l *Log) write(r *Receipt) {
	switch {
	case r.finished():
	case l.writer.ready():
		l.writer.flush()
	default:
		signal(l.hurry)
	}
}

// Close writes what waits, records how the session ended, and closes the file, which is a single one then. It returns
// when all of that is done, with what could not be. It may be called more than once; the first status counts.
func (l *Log) Close(s Status) error {
	if l.queue.close() {
		l.writer.status = s
		close(l.ending)
	}
	<-l.stopped
	return l.sealed
}

const (
	// groupPause is how long the database stays behind the tail: the calls of that time share a commit.
	groupPause = 20 * time.Millisecond
	// quietPause is how long nothing is written before what is left to do is done: somebody thinks, and not a program calls.
	quietPause = 500 * time.Millisecond
)

// run takes what is written into the database.
func (l *Log) run() {
	defer close(l.stopped)
	pause, quiet := time.NewTimer(groupPause), time.NewTimer(quietPause)
	defer pause.Stop()
	defer quiet.Stop()
	for {
		select {
		case <-l.news:
		case <-l.hurry:
		case <-quiet.C:
			l.writer.save(context.Background(), restAfter)
			continue
		case <-l.ending:
			l.sealed = l.writer.seal(l.turn)
			return
		}
		if l.writer.opened() { // else the first entry is waiting for that
			pause.Reset(groupPause)
			select {
			case <-pause.C:
			case <-l.hurry:
			case <-l.ending:
			}
		}
		l.writer.pass(l.turn)
		quiet.Reset(quietPause)
	}
}

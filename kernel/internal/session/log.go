package session

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// Log writes one session. Its methods may be called from many goroutines; one goroutine of its own writes. The file
// comes to be with the first entry, so that a session in which nothing happens leaves nothing.
type Log struct {
	path string
	meta Meta
	warn func(string)

	queue   chan entry
	hurry   chan struct{} // somebody waits for what is queued; one is as good as many
	stopped chan struct{} // closed when the writer has ended
	sealed  error         // how that went; to be read after stopped

	mu     sync.RWMutex // guards closed, and that nothing is queued after it is set
	closed bool
}

// Entry is what is appended at once: an event, and the rows that find it.
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

// entry is what travels to the writer: an event with its receipt, or output.
type entry struct {
	event   Entry
	at      time.Time
	receipt *Receipt // nil for output
	output  *Output
}

// queueLength is how many entries may wait. Whoever appends more has to wait too, so a flood of output is as fast as the
// disk and costs no memory.
const queueLength = 256

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
	meta.Status = Running
	l := &Log{
		path: filepath.Join(folder, meta.ID+extension), meta: meta, warn: warn,
		queue: make(chan entry, queueLength), hurry: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	go l.run()
	return l, nil
}

// Path is where the session is, or will be.
func (l *Log) Path() string { return l.path }

// Append hands an event to the writer and returns at once; the Receipt tells when it is there. Events are in the log in
// the order in which they were appended.
func (l *Log) Append(e Entry) *Receipt {
	if e.ID == "" {
		e.ID = ulid.Make().String()
	}
	if e.SchemaVersion == "" {
		e.SchemaVersion = SchemaVersion
	}
	r := newReceipt(l.hurry)
	if !l.enqueue(entry{event: e, at: time.Now(), receipt: r}) {
		r.finish(0, ErrClosed)
	}
	return r
}

// Print hands what a call has printed to the writer and returns at once. The data is the log's from then on. Of one call
// OutputLimit bytes are kept; of the rest only how much it was.
func (l *Log) Print(o Output) {
	if len(o.Data) == 0 && o.Skipped == 0 {
		return
	}
	if o.Time.IsZero() {
		o.Time = time.Now()
	}
	l.enqueue(entry{output: &o})
}

func (l *Log) enqueue(e entry) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		return false
	}
	l.queue <- e
	return true
}

// Close writes what waits, records how the session ended, and closes the file, which is a single one then. It returns
// when all of that is done, with what could not be. It may be called more than once; the first status counts.
func (l *Log) Close(s Status) error {
	l.mu.Lock()
	if !l.closed {
		l.closed, l.meta.Status = true, s
		close(l.queue)
	}
	l.mu.Unlock()
	<-l.stopped
	return l.sealed
}

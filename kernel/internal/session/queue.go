package session

import (
	"sync"
	"time"
)

const (
	// OutputLimit is how much output of one call is kept, in bytes: the first of it. What a call has to say at its end is
	// in its result.
	OutputLimit = 1 << 20
	// memoryLimit bounds what is not in the database yet, in bytes. Whoever appends more waits, so a flood of output is
	// as fast as the disk and costs no memory.
	memoryLimit = 4 << 20
	// joinWithin is how long after one piece of output the next still becomes part of its row.
	joinWithin = 10 * time.Millisecond
)

// queue is what was appended and is not written anywhere yet. Its methods may be called from many goroutines.
type queue struct {
	mu      sync.Mutex
	room    sync.Cond // told when held has become less, or one of the last two is set
	rows    []row
	held    int                // bytes of these rows, and of those that the database does not have yet
	printed map[string]printed // of the calls that run
	jammed  bool               // the database takes nothing in, so that there will be no room
	closed  bool
}

// printed is what is known of the output of a call that runs.
type printed struct {
	kept    int
	skipped int64 // bytes that no row tells of yet
}

func newQueue() *queue {
	q := &queue{printed: map[string]printed{}}
	q.room.L = &q.mu
	return q
}

// append queues an event, with what its hash covers before it. It reports whether there is much by now, and whether the
// queue is still open.
func (q *queue) append(r row) (much, open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.wait() {
		return false, false
	}
	if id := r.event.CallID; r.event.Kind == ToolResult {
		var p printed
		if p, r.printed = q.printed[id]; r.printed {
			q.gap(id, r.at, &p)
			delete(q.printed, id)
		}
	}
	q.push(r)
	return q.held > memoryLimit/2, true
}

// print queues output, as far as there is room for it.
func (q *queue) print(o Output) (much bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.wait() {
		return false
	}
	p := q.printed[o.CallID]
	kept := max(0, min(len(o.Data), OutputLimit-p.kept))
	skipped := int64(len(o.Data)-kept) + o.Skipped
	if kept > 0 {
		q.gap(o.CallID, o.Time, &p)
		q.join(Output{CallID: o.CallID, Time: o.Time, Stream: o.Stream, Data: o.Data[:kept:kept]})
		p.kept += kept
	}
	p.skipped += skipped
	q.printed[o.CallID] = p
	return q.held > memoryLimit/2
}

// wait returns when there is room, with whether the queue is open.
func (q *queue) wait() bool {
	for q.held > memoryLimit && !q.jammed && !q.closed {
		q.room.Wait()
	}
	return !q.closed
}

func (q *queue) push(r row) {
	q.rows = append(q.rows, r)
	q.held += r.size()
}

// gap writes down that output is missing here, when it is.
func (q *queue) gap(callID string, at time.Time, p *printed) {
	if p.skipped > 0 {
		q.push(row{kind: rowOutput, at: at, output: Output{CallID: callID, Time: at, Skipped: p.skipped}})
		p.skipped = 0
	}
}

// join queues output, as part of the row before when it goes on with that.
func (q *queue) join(o Output) {
	if n := len(q.rows); n > 0 && q.rows[n-1].kind == rowOutput && continues(q.rows[n-1].output, o) {
		last := &q.rows[n-1].output
		last.Data = append(last.Data, o.Data...)
		q.held += len(o.Data)
		return
	}
	q.push(row{kind: rowOutput, at: o.Time, output: o})
}

// continues reports whether one output is the rest of the one before.
func continues(o, next Output) bool {
	return next.CallID == o.CallID && next.Stream == o.Stream && o.Skipped == 0 && next.Time.Sub(o.Time) < joinWithin
}

func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.rows) == 0
}

// take takes all that is queued, into memory that may be used again.
func (q *queue) take(into []row) []row {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.rows
	q.rows = into[:0]
	return taken
}

// freed makes room: the database has these rows.
func (q *queue) freed(rows []row) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(rows)
}

func (q *queue) drop(rows []row) {
	for i := range rows {
		q.held -= rows[i].size()
	}
	q.room.Broadcast()
}

// lost makes room: these rows are nowhere. Their output is counted, so that a row can say that it is missing.
func (q *queue) lost(rows []row) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(rows)
	for i := range rows {
		switch r := &rows[i]; {
		case r.kind == rowOutput:
			p := q.printed[r.output.CallID]
			p.kept = max(0, p.kept-len(r.output.Data))
			p.skipped += int64(len(r.output.Data)) + r.output.Skipped
			q.printed[r.output.CallID] = p
		case r.event.Kind == ToolResult:
			delete(q.printed, r.event.CallID)
		}
	}
}

// jam says whether the database takes nothing in: then nobody waits for room, since all will be refused.
func (q *queue) jam(is bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jammed = is
	q.room.Broadcast()
}

// close lets nothing more in, and reports whether it did until now.
func (q *queue) close() (open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	open, q.closed = !q.closed, true
	q.room.Broadcast()
	return open
}

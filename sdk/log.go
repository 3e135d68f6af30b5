package sdk

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	kernelv1 "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	logv1 "github.com/agentco/agent/proto/pluggableharness/log/v1"
	"github.com/agentco/agent/sdk/internal/secret"
)

const (
	// logBacklog is how many entries wait for a slow kernel before the oldest kind of help is given up: logging
	// must never hold up a call.
	logBacklog = 512
	// logBatch is how many entries travel in one message.
	logBatch = 64
)

// logRecord is an entry, or, with flushed, a place in the queue that somebody waits for.
type logRecord struct {
	session string
	entry   *logv1.LogEntry
	flushed chan<- struct{}
}

// logQueue sends log entries in order, from one goroutine.
type logQueue struct {
	callbacks *callbacks
	entries   chan logRecord
	waiting   atomic.Int64 // entries that are not delivered yet
	stop      chan struct{}
	life      context.Context // ends soon after stop, when a kernel does not take what is left
	end       context.CancelFunc
	stopped   chan struct{}
}

func newLogQueue(c *callbacks) *logQueue {
	q := &logQueue{callbacks: c, entries: make(chan logRecord, logBacklog), stop: make(chan struct{}), stopped: make(chan struct{})}
	q.life, q.end = context.WithCancel(c.alive)
	go q.run()
	return q
}

func (q *logQueue) add(r logRecord) {
	if !q.callbacks.secrets.Empty() {
		r.entry = secret.Clean(q.callbacks.secrets, r.entry)
	}
	q.waiting.Add(1)
	select {
	case q.entries <- r:
	default:
		q.waiting.Add(-1)
		q.callbacks.spill.printf("log backlog is full, dropped: %s", r.entry.GetMessage())
	}
}

// flush returns when what was logged before is delivered, or after a while when the kernel does not take it: a kernel
// may end a provider as soon as its call is over.
func (q *logQueue) flush() {
	if q.waiting.Load() == 0 {
		return
	}
	flushed := make(chan struct{})
	timer := time.NewTimer(kernelPatience)
	defer timer.Stop()
	select {
	case q.entries <- logRecord{flushed: flushed}:
	case <-timer.C:
		return
	}
	select {
	case <-flushed:
	case <-q.stopped:
	case <-timer.C:
	}
}

func (q *logQueue) run() {
	defer close(q.stopped)
	for {
		select {
		case first := <-q.entries:
			q.send(first)
		case <-q.stop:
			for {
				select {
				case first := <-q.entries:
					q.send(first)
				default:
					return
				}
			}
		}
	}
}

// send delivers first and whatever else of its session waits behind it.
func (q *logQueue) send(first logRecord) {
	next := &first
	for next != nil {
		record := *next
		next = nil
		if record.flushed != nil {
			close(record.flushed)
			return
		}
		batch := []*logv1.LogEntry{record.entry}
		for next == nil && len(batch) < logBatch {
			select {
			case r := <-q.entries:
				if r.flushed == nil && r.session == record.session {
					batch = append(batch, r.entry)
				} else {
					next = &r
				}
				continue
			default:
			}
			break
		}
		q.deliver(record.session, batch)
		q.waiting.Add(-int64(len(batch)))
	}
}

func (q *logQueue) deliver(session string, batch []*logv1.LogEntry) {
	ctx, cancel := context.WithTimeout(q.life, kernelPatience)
	defer cancel()
	if client := q.callbacks.likely(ctx); client != nil {
		request := &kernelv1.LogRequest{Entries: batch}
		if session != "" {
			request.SessionId = proto.String(session)
		}
		if _, err := client.Log(ctx, request); err == nil {
			return
		}
	}
	for _, entry := range batch {
		q.callbacks.spill.printf("%s %s: %s%s", strings.TrimPrefix(entry.GetLevel().String(), "LOG_LEVEL_"), entry.GetLogger(), entry.GetMessage(), fieldText(entry))
	}
}

func fieldText(entry *logv1.LogEntry) string {
	var b strings.Builder
	fields := entry.GetFields().AsMap()
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		fmt.Fprintf(&b, " %s=%v", key, fields[key])
	}
	return b.String()
}

func (q *logQueue) close() {
	defer q.end()
	defer time.AfterFunc(kernelPatience, q.end).Stop()
	close(q.stop)
	<-q.stopped
}

package sdk

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	kernelv1 "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	logv1 "github.com/agentco/agent/proto/pluggableharness/log/v1"
)

const (
	// logBacklog is how many entries wait for a slow kernel before the oldest kind of help is given up: logging
	// must never hold up a call.
	logBacklog = 512
	// logBatch is how many entries travel in one message.
	logBatch = 64
	// logPatience bounds one delivery, so that a kernel that hangs cannot hold up the end of a provider.
	logPatience = time.Second
)

type logRecord struct {
	session string
	entry   *logv1.LogEntry
}

// logQueue sends log entries in order, from one goroutine, which runs while there are any.
type logQueue struct {
	callbacks *callbacks
	entries   chan logRecord
	stop      chan struct{}
	stopped   chan struct{}
}

func newLogQueue(c *callbacks) *logQueue {
	q := &logQueue{callbacks: c, entries: make(chan logRecord, logBacklog), stop: make(chan struct{}), stopped: make(chan struct{})}
	go q.run()
	return q
}

func (q *logQueue) add(r logRecord) {
	select {
	case q.entries <- r:
	default:
		fmt.Fprintf(os.Stderr, "log backlog is full, dropped: %s\n", r.entry.GetMessage())
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
	batch := []*logv1.LogEntry{first.entry}
	session := first.session
	var next *logRecord
collect:
	for len(batch) < logBatch {
		select {
		case r := <-q.entries:
			if r.session != session {
				next = &r
				break collect
			}
			batch = append(batch, r.entry)
		default:
			break collect
		}
	}
	q.deliver(session, batch)
	if next != nil {
		q.send(*next)
	}
}

func (q *logQueue) deliver(session string, batch []*logv1.LogEntry) {
	client := q.callbacks.ready()
	if client != nil {
		ctx, cancel := context.WithTimeout(context.Background(), logPatience)
		defer cancel()
		request := &kernelv1.LogRequest{Entries: batch}
		if session != "" {
			request.SessionId = proto.String(session)
		}
		if _, err := client.Log(ctx, request); err == nil {
			return
		}
	}
	for _, entry := range batch {
		fmt.Fprintf(os.Stderr, "%s %s: %s%s\n", strings.TrimPrefix(entry.GetLevel().String(), "LOG_LEVEL_"), entry.GetLogger(), entry.GetMessage(), fieldText(entry))
	}
}

func fieldText(entry *logv1.LogEntry) string {
	var b strings.Builder
	for key, value := range entry.GetFields().AsMap() {
		fmt.Fprintf(&b, " %s=%v", key, value)
	}
	return b.String()
}

func (q *logQueue) close() {
	close(q.stop)
	<-q.stopped
}

// logHandler is a slog.Handler over the queue.
type logHandler struct {
	queue   *logQueue
	session string
	name    string
	prefix  string
	attrs   []slog.Attr
}

func (h *logHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	fields := map[string]any{}
	for _, a := range h.attrs {
		addField(fields, "", a)
	}
	r.Attrs(func(a slog.Attr) bool {
		addField(fields, h.prefix, a)
		return true
	})
	h.queue.add(logRecord{session: h.session, entry: &logv1.LogEntry{
		Level: levelOf(r.Level), Logger: h.name, Message: strings.ToValidUTF8(r.Message, "\uFFFD"),
		Fields: looseStruct(fields), Time: timestamppb.New(r.Time),
	}})
	return nil
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	next.attrs = append([]slog.Attr(nil), h.attrs...)
	for _, a := range attrs {
		a.Key = h.prefix + a.Key
		next.attrs = append(next.attrs, a)
	}
	return &next
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	next := *h
	next.prefix += name + "."
	return &next
}

// addField puts an attribute into fields, groups as dotted names.
func addField(fields map[string]any, prefix string, a slog.Attr) {
	value := a.Value.Resolve()
	switch value.Kind() {
	case slog.KindGroup:
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, member := range value.Group() {
			addField(fields, prefix, member)
		}
	case slog.KindString, slog.KindBool, slog.KindFloat64, slog.KindInt64, slog.KindUint64:
		fields[prefix+a.Key] = value.Any()
	default:
		fields[prefix+a.Key] = value.String()
	}
}

func levelOf(level slog.Level) logv1.LogLevel {
	switch {
	case level < slog.LevelDebug:
		return logv1.LogLevel_LOG_LEVEL_TRACE
	case level < slog.LevelInfo:
		return logv1.LogLevel_LOG_LEVEL_DEBUG
	case level < slog.LevelWarn:
		return logv1.LogLevel_LOG_LEVEL_INFO
	case level < slog.LevelError:
		return logv1.LogLevel_LOG_LEVEL_WARN
	default:
		return logv1.LogLevel_LOG_LEVEL_ERROR
	}
}

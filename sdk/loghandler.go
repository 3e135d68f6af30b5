package sdk

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	logv1 "github.com/agentco/agent/proto/pluggableharness/log/v1"
)

// entryBytes is the most of one log entry: a batch of them fits in a gRPC message.
const entryBytes = messageBytes / logBatch

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
	h.queue.add(logRecord{session: h.session, entry: fitting(&logv1.LogEntry{
		Level: levelOf(r.Level), Logger: h.name, Message: clipped(h.queue.callbacks.secrets, r.Message),
		Fields: looseStruct(fields), Time: timestamppb.New(r.Time),
	})})
	return nil
}

// fitting keeps an entry within its share of a message.
func fitting(entry *logv1.LogEntry) *logv1.LogEntry {
	size := proto.Size(entry)
	if size <= entryBytes {
		return entry
	}
	if len(entry.GetMessage()) > entryBytes/2 {
		entry.Message = strings.ToValidUTF8(entry.GetMessage()[:entryBytes/2], "") + "…"
	}
	if proto.Size(entry) > entryBytes {
		entry.Fields = looseStruct(map[string]any{"omitted": fmt.Sprintf("fields; the entry had %d bytes", size)})
	}
	return entry
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
	case slog.KindString, slog.KindBool, slog.KindFloat64, slog.KindInt64, slog.KindUint64, slog.KindAny:
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

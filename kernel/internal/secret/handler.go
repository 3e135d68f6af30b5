package secret

import (
	"context"
	"fmt"
	"log/slog"
)

// Handler is a handler of a log that hands records on without the values of a set.
type Handler struct {
	Set *Set
	To  slog.Handler
}

// Enabled is that of the handler behind it.
func (h Handler) Enabled(ctx context.Context, level slog.Level) bool { return h.To.Enabled(ctx, level) }

// Handle cleans the message and all attributes.
func (h Handler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.Set.Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.To.Handle(ctx, clean)
}

// WithAttrs cleans the attributes now: what becomes secret later is not in what is known now.
func (h Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a)
	}
	return Handler{h.Set, h.To.WithAttrs(clean)}
}

// WithGroup is that of the handler behind it.
func (h Handler) WithGroup(name string) slog.Handler {
	return Handler{h.Set, h.To.WithGroup(h.Set.Text(name))}
}

func (h Handler) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		v = slog.StringValue(h.Set.Text(v.String()))
	case slog.KindGroup:
		group := make([]slog.Attr, len(v.Group()))
		for i, member := range v.Group() {
			group[i] = h.attr(member)
		}
		v = slog.GroupValue(group...)
	case slog.KindAny:
		if text := fmt.Sprint(v.Any()); h.Set.in(text) {
			v = slog.StringValue(h.Set.Text(text))
		}
	}
	return slog.Attr{Key: h.Set.Text(a.Key), Value: v}
}

package conformance

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	logv1 "github.com/agentco/agent/proto/pluggableharness/log/v1"
)

// messageLimit is gRPC's default.
const messageLimit = 4 << 20

func messageSize(s *subject) finding {
	s.session()
	s.crowd()
	s.cancels()
	s.wire.mu.Lock()
	defer s.wire.mu.Unlock()
	if s.wire.largest >= messageLimit {
		return broken("one of %s has %d bytes", s.wire.method, s.wire.largest)
	}
	return seen("the largest has %d bytes", s.wire.largest)
}

func messageLarge(l session) finding {
	var t tally
	for _, call := range l.large {
		t.count++
		if len(call.terminals()) == 0 {
			t.add("%s ends with %s", call, call.ending())
		}
	}
	if t.count == 0 {
		return skipped("no operation that may be called takes any text")
	}
	return t.of("such calls")
}

func wireUnknownFields(l session) finding {
	var t tally
	for _, e := range l.extended {
		t.count++
		if plain, got := e.plain.ending(), e.extended.ending(); plain != got && !t.fell(e.plain) {
			t.add("%s ends with %s, and %s with %s", e.plain, plain, e.extended, got)
		}
	}
	return t.of("calls with fields of a later version")
}

func wireGarbage(l session) finding {
	var t tally
	for _, g := range l.garbage {
		if absent(g.err) {
			continue
		}
		t.count++
		switch code := status.Code(g.err); {
		case g.died:
			t.add("they end the process, sent to %s", g.method)
		case code == codes.OK:
			t.add("%s takes them", g.method)
		case code == codes.DeadlineExceeded:
			t.add("%s does not answer", g.method)
		}
	}
	return t.of("methods that got them")
}

func logEntry(l session) finding {
	var t tally
	for _, entry := range l.logged {
		t.count++
		switch {
		case entry.GetLevel() < logv1.LogLevel_LOG_LEVEL_TRACE || entry.GetLevel() > logv1.LogLevel_LOG_LEVEL_FATAL:
			t.add("%s has the level %s", quote(entry.GetMessage()), entry.GetLevel())
		case strings.TrimSpace(entry.GetMessage()) == "":
			t.add("one of %s has no message", quote(entry.GetLogger()))
		case entry.GetTime() == nil || entry.GetTime().CheckValid() != nil:
			t.add("%s has no time", quote(entry.GetMessage()))
		}
	}
	return t.of("log entries")
}

// callbacksLike compares calls for another kernel with those of the session.
func callbacksLike(other func(*subject) session) check {
	return func(s *subject) finding {
		return lived(func(l session) finding {
			o := other(s)
			if o.err != nil {
				return broken("it could not be used: %v", o.err)
			}
			usual := map[string]string{}
			for _, try := range l.tries {
				usual[try.call.String()] = try.call.kind()
			}
			var t tally
			var ops []operation
			for _, try := range o.tries {
				ops = append(ops, try.call.operation)
			}
			for _, try := range o.tries {
				t.count++
				want, known := usual[try.call.String()]
				got := try.call.kind()
				switch {
				case l.lethal(ops...) && t.fell(try.call):
				case known && got != want:
					t.add("%s ends with %s, not %s", try.call, try.call.ending(), want)
				case !known && len(try.call.terminals()) == 0:
					t.add("%s ends with %s", try.call, try.call.ending())
				}
			}
			if len(o.deaths) > 0 && len(l.deaths) == 0 {
				t.add("the process ended")
			}
			return t.of("calls")
		})(s)
	}
}

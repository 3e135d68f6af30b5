package conformance

import (
	"errors"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/agentco/agent/conformance/client"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
)

// quick is how long a cheap answer may take.
const quick = time.Second

func schemaBeforeConfigure(s *subject) finding {
	for category, err := range s.discovery().refused {
		if !absent(err) && !late(err) {
			return broken("%s: %v", service{category: category}.listing(), err)
		}
	}
	if len(s.discovery().surfaces) == 0 {
		return skipped("it serves no category")
	}
	return seen("%d operations", len(s.discovery().operations()))
}

func schemaQuick(s *subject) finding {
	var longest time.Duration
	for category, err := range s.discovery().refused {
		if late(err) {
			return broken("%s does not answer within %s", service{category: category}.listing(), s.timeout())
		}
	}
	for category, took := range s.discovery().took {
		if took > quick {
			return broken("%s took %s", service{category: category}.listing(), took.Round(time.Millisecond))
		}
		longest = max(longest, took)
	}
	if longest == 0 {
		return skipped("it serves no category")
	}
	return seen("at most %s", longest.Round(100*time.Microsecond))
}

func schemaOffline(s *subject) finding {
	if s.start().announcing.announcement.Network == "tcp" && client.Isolates {
		return skipped("it listens on TCP, which a network of its own cuts off; serve on a unix socket to have this tried")
	}
	o := s.offline()
	switch {
	case errors.Is(o.err, syscall.EPERM), errors.Is(o.err, syscall.ENOSPC), errors.Is(o.err, syscall.EINVAL):
		return skipped("this system lets us make no network of our own: %v", o.err)
	case o.err != nil:
		return broken("without a network: %v", o.err)
	}
	if names := s.discovery().differing(o.surfaces); len(names) > 0 {
		return broken("without a network %s answers differently", strings.Join(names, " and "))
	}
	if !client.Isolates {
		return seen("the same with proxies that lead nowhere")
	}
	return seen("the same in a network of its own")
}

func schemaStable(s *subject) finding {
	d := s.discovery()
	if names := d.differing(d.again); len(names) > 0 {
		return broken("asked again, %s answers differently", strings.Join(names, " and "))
	}
	return lived(func(l session) finding {
		if names := d.differing(l.later); len(names) > 0 {
			return broken("after Configure %s answers differently", strings.Join(names, " and "))
		}
		return seen("the same three times")
	})(s)
}

func configureFirst(s *subject) finding {
	d := s.discovery()
	if d.died {
		return broken("a call before Configure ended the process")
	}
	var t tally
	for _, call := range d.early {
		t.count++
		switch {
		case call.result() != nil:
			t.add("%s ends with a result", call)
		case call.failure() == nil && call.err == nil, status.Code(call.err) == codes.DeadlineExceeded:
			t.add("%s does not end with an error", call)
		}
	}
	return t.of("calls before Configure")
}

func describeRef(s *subject) finding {
	d := s.discovery()
	var t tally
	for _, offered := range d.surfaces {
		category, name := offered.category, categoryName(offered.category)
		t.count++
		if err := d.mute[category]; err != nil {
			t.add("Describe of %s: %v", name, err)
			continue
		}
		ref := d.described[category]
		if ref.GetName() == "" {
			t.add("Describe of %s gives no name", name)
		}
		if !semantic.MatchString(ref.GetVersion()) {
			t.add("the version of %s is %s, not one such as 1.2.3", name, quote(ref.GetVersion()))
		}
		if ref.GetCategory() != category {
			t.add("Describe of %s gives the category %s", name, categoryName(ref.GetCategory()))
		}
		if ref.GetProtocolVersion() != 1 {
			t.add("Describe of %s gives version %d of its protocol", name, ref.GetProtocolVersion())
		}
	}
	f := t.of("categories")
	if f.seen != "" {
		f.seen = d.provider()
	}
	return f
}

func describeSame(s *subject) finding {
	d := s.discovery()
	if len(d.described) < len(categories) {
		return skipped("it serves one category")
	}
	tool, command := d.described[commonv1.Category_CATEGORY_TOOL], d.described[commonv1.Category_CATEGORY_SLASHCOMMAND]
	if tool.GetName() != command.GetName() || tool.GetVersion() != command.GetVersion() || tool.GetSource() != command.GetSource() {
		return broken("as a tool provider it is %s %s, as a slash-command provider %s %s",
			tool.GetName(), tool.GetVersion(), command.GetName(), command.GetVersion())
	}
	return seen("the same for both")
}

func describeSource(s *subject) finding {
	var t tally
	for category, ref := range s.discovery().described {
		t.count++
		if ref.GetSource() == "" {
			t.add("Describe of %s gives no source", categoryName(category))
		}
	}
	return t.of("descriptions")
}

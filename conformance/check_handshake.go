package conformance

import (
	"strings"

	"github.com/agentco/agent/conformance/client"
	"github.com/agentco/agent/proto/plugin"
)

// announced gives the handshake to a check, if there was one.
func announced(look func(announcing) finding) check {
	return func(s *subject) finding {
		a := s.start().announcing
		switch {
		case a.err != nil:
			return skipped("there was no handshake: %v", a.err)
		case a.malformed != nil:
			return skipped("the handshake cannot be read: %v", a.malformed)
		default:
			return look(a)
		}
	}
}

func handshakeLine(s *subject) finding {
	a := s.start().announcing
	switch {
	case a.err != nil:
		return broken("no handshake: %v", a.err)
	case a.malformed != nil:
		return broken("the first line on stdout is no handshake: %v", a.malformed)
	case a.announcement.Core != 1:
		return broken("the core protocol is %d", a.announcement.Core)
	case a.undialled != nil:
		return broken("the address cannot be dialled: %v", a.undialled)
	default:
		return seen("%s on %s", a.announcement.Protocol, a.announcement.Network)
	}
}

func handshakeVersion(a announcing) finding {
	if a.announcement.Version != plugin.ProtocolVersion {
		return broken("it announces version %d", a.announcement.Version)
	}
	return seen("version %d", a.announcement.Version)
}

func handshakeGRPC(a announcing) finding {
	if a.announcement.Protocol != "grpc" {
		return broken("it announces %s", quote(a.announcement.Protocol))
	}
	return seen("grpc")
}

func handshakeMTLS(a announcing) finding {
	switch {
	case a.announcement.Protocol != "grpc":
		return skipped("it does not serve gRPC")
	case a.undialled != nil:
		return skipped("the address cannot be dialled: %v", a.undialled)
	case a.mutual != nil:
		return broken("given a client certificate, %v", a.mutual)
	case a.plain:
		return broken("given a client certificate, it serves a connection without TLS")
	case a.bare:
		return broken("it serves a client without a certificate; its TLS must require one and verify it against PLUGIN_CLIENT_CERT")
	default:
		return seen("a client with the certificate is served, one without is not")
	}
}

func handshakeCookie(s *subject) finding {
	var t tally
	for _, u := range s.uncookied() {
		t.count++
		given := "without a cookie"
		if u.cookie != "" {
			given = "with a wrong cookie"
		}
		_, err := client.ParseAnnouncement(u.line)
		switch {
		case u.err != nil:
			t.add("%s it cannot be started: %v", given, u.err)
		case err == nil:
			t.add("%s it announces itself", given)
		case u.running:
			t.add("%s it does not exit within %s", given, s.timeout())
		case u.code == 0:
			t.add("%s it exits with 0", given)
		}
	}
	return t.of("starts without the right cookie, each an error")
}

func handshakeExplains(s *subject) finding {
	var t tally
	for _, u := range s.uncookied() {
		if u.err != nil {
			continue
		}
		t.count++
		switch {
		case u.said == "":
			t.add("it says nothing to a person who starts it")
		case isTrace(u.said):
			t.add("it shows a person who starts it a stack trace: %s", quote(reasonIn(u.said)))
		}
	}
	f := t.of("starts without the right cookie")
	if f.seen != "" {
		first, _, _ := strings.Cut(s.uncookied()[0].said, "\n")
		f.seen = "it says " + quote(first)
	}
	return f
}

func envAllowlist(s *subject) finding {
	if s.start().wholeEnv != nil {
		return broken("it starts with every variable of this process, but not with the allowed ones: %v", s.start().wholeEnv)
	}
	return seen("it starts")
}

func stdoutSilent(s *subject) finding {
	return lived(func(l session) finding {
		if l.printed != "" {
			return broken("stdout has %s", quote(l.printed))
		}
		return seen("nothing in a whole session")
	})(s)
}

func categoryServed(s *subject) finding {
	d := s.discovery()
	var names []string
	for _, offered := range d.surfaces {
		names = append(names, categoryName(offered.category))
	}
	if len(names) == 0 {
		return broken("neither GetSchema nor GetCapabilities answers")
	}
	return seen("%s", strings.Join(names, ", "))
}

func categoryUnimplemented(s *subject) finding {
	var t tally
	for category, err := range s.discovery().refused {
		t.count++
		if !absent(err) && !late(err) {
			t.add("%s answers %v", service{category: category}.listing(), err)
		}
	}
	if t.count == 0 {
		return seen("it serves both categories")
	}
	return t.of("category that it does not serve")
}

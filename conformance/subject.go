package conformance

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentco/agent/conformance/client"
	"github.com/agentco/agent/conformance/internal/scenario"
)

// sideBySide is how many processes of the provider are tried at once, unless there are more processors.
const sideBySide = 4

// subject is a provider under trial and what was seen of it. Each field of type evidence is gathered once, when the
// first check asks for it, so that a run with few rules starts few processes.
type subject struct {
	// ctx is that of the whole run: evidence outlives the check that asked for it first.
	ctx      context.Context
	command  []string
	options  Options
	scenario *scenario.Scenario
	base     string // everything that a run writes is below it
	places   atomic.Int64
	calls    atomic.Int64
	slots    chan struct{}
	wire     *wire
	stderr   *lockedWriter
	unusable atomic.Bool // a rule could not be tried, since the provider did not get as far

	start     func() start       // how the provider can be started at all
	uncookied func() []uncookied // starts without the cookie
	discovery func() discovery   // what it says of itself before it is configured
	offline   func() offline     // the same without a network
	refusals  func() []refusal   // blocks that do not fit
	session   func() session     // one life, from Configure to the shutdown, with every call
	cancels   func() cancels     // calls that are cancelled
	crowd     func() crowd       // calls side by side
	unheard   func() session     // calls of a kernel without callbacks
	unhurried func() session     // calls of a kernel with slow ones
	repeated  func() repeated    // calls made twice
	hurried   func() hurried     // a shutdown while a call runs
	orphan    func() orphan      // the death of the kernel
}

func newSubject(ctx context.Context, command []string, o Options, s *scenario.Scenario, base string) *subject {
	t := &subject{
		ctx: ctx, command: command, options: o, scenario: s, base: base,
		slots: make(chan struct{}, max(sideBySide, runtime.NumCPU())), wire: &wire{leaks: map[string]bool{}}, stderr: &lockedWriter{w: o.Stderr},
	}
	t.start = once(t, t.findStart)
	t.uncookied = once(t, t.startWithoutCookie)
	t.discovery = once(t, t.discover)
	t.offline = once(t, t.discoverOffline)
	t.refusals = once(t, t.refuse)
	t.session = once(t, t.live)
	t.cancels = once(t, t.cancelCalls)
	t.crowd = once(t, t.callTogether)
	t.unheard = once(t, func() session { return t.callQuietly(func(o *client.Options) { o.Mute = true }) })
	t.unhurried = once(t, func() session { return t.callQuietly(func(o *client.Options) { o.Delay = slowness }) })
	t.repeated = once(t, t.callTwice)
	t.hurried = once(t, t.shutDownBusy)
	t.orphan = once(t, t.killParent)
	return t
}

// once gathers evidence at its first use. No gathering may ask for other evidence than start and discovery, which
// are there before any other begins: it would wait for a slot while it holds one.
func once[T any](s *subject, gather func() T) func() T {
	return sync.OnceValue(func() T {
		s.slots <- struct{}{}
		defer func() { <-s.slots }()
		return gather()
	})
}

func (s *subject) timeout() time.Duration {
	if s.options.Timeout > 0 {
		return s.options.Timeout
	}
	return 10 * time.Second
}

// patient is a context for one step of the provider.
func (s *subject) patient() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.ctx, s.timeout())
}

func (s *subject) nextCall() string { return fmt.Sprintf("call_%d", s.calls.Add(1)) }

// wire watches everything that the provider sends in any of its processes.
type wire struct {
	mu      sync.Mutex
	secrets [][]byte
	leaks   map[string]bool // where one of them came back
	largest int
	method  string // of the largest message
}

// guard names a value that must not come back. Very short ones are no secrets: they would be found everywhere.
func (w *wire) guard(secret string) {
	const least = 6
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(secret) < least {
		return
	}
	for _, known := range w.secrets {
		if string(known) == secret {
			return
		}
	}
	w.secrets = append(w.secrets, []byte(secret))
}

// heard is a client.Heard.
func (w *wire) heard(method string, size int, content []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if size > w.largest {
		w.largest, w.method = size, method
	}
	for _, secret := range w.secrets {
		if bytes.Contains(content, secret) {
			w.leaks[method] = true
		}
	}
}

// stream watches text that is printed, also where a secret falls onto two writes.
type stream struct {
	wire *wire
	name string
	out  *lockedWriter
	tail []byte
}

// Write looks at b and passes it on.
func (p *stream) Write(b []byte) (int, error) {
	const overlap = 4 << 10
	p.tail = append(p.tail, b...)
	p.wire.heard(p.name, 0, p.tail)
	if len(p.tail) > overlap {
		p.tail = append([]byte(nil), p.tail[len(p.tail)-overlap:]...)
	}
	return p.out.Write(b)
}

// removeAll is for temporary folders whose content a provider may have made read-only.
func removeAll(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	makeWritable(dir)
	_ = os.RemoveAll(dir)
}

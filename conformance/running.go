package conformance

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/conformance/client"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// sessionID and turnID are ULIDs, as a kernel sends them.
const (
	sessionID = "01J9Z3QK4T8V6W2X5Y7A9B1C3D"
	turnID    = "01J9Z3QK5B0F2G4H6J8K0M2N4P"
)

// running is one process of the provider in its place.
type running struct {
	*client.Provider
	place   *place
	subject *subject
}

// start is how the provider can be started: as the protocol demands, or with concessions that break a rule but let the
// other rules be tried.
type start struct {
	err error // why it cannot be started at all
	// announcing is the handshake, by hand.
	announcing announcing
	// wholeEnv and plain are the concessions; each has the reason why it was needed.
	wholeEnv, plain error
}

// foreign reports a program that never announced itself: it is no provider, or one that dies before it is one.
func (s start) foreign() bool {
	return s.err != nil && (s.announcing.err != nil || s.announcing.malformed != nil)
}

// findStart tries the protocol's way first.
func (s *subject) findStart() (out start) {
	out.announcing = s.listen(out)
	if out.announcing.silent {
		out.err = out.announcing.err // other ways would only take as long
		return out
	}
	strict := s.tryStart(out)
	if strict == nil {
		return out
	}
	for _, concession := range []start{{wholeEnv: strict}, {plain: strict}} {
		if s.ctx.Err() != nil || s.tryStart(concession) != nil {
			continue
		}
		concession.announcing = out.announcing
		if concession.wholeEnv != nil {
			concession.announcing = s.listen(concession)
		}
		return concession
	}
	out.err = strict
	return out
}

func (s *subject) tryStart(how start) error {
	r, err := s.launchAs(how, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	// The connection is made at the first request.
	ctx, cancel := s.patient()
	defer cancel()
	for _, category := range categories {
		_, err = service{r.Conn, category}.list(ctx)
		if status.Code(err) == codes.Unavailable {
			return fmt.Errorf("connect: %w", err)
		}
	}
	return nil
}

// launch starts a process in a new place.
func (s *subject) launch(adjust func(*client.Options)) (*running, error) {
	how := s.start()
	if how.err != nil {
		return nil, how.err
	}
	return s.launchAs(how, adjust)
}

func (s *subject) launchAs(how start, adjust func(*client.Options)) (*running, error) {
	p, err := s.place()
	if err != nil {
		return nil, err
	}
	o := s.at(p)
	o.WholeEnv, o.Plain = how.wholeEnv != nil, how.plain != nil
	if adjust != nil {
		adjust(&o)
	}
	provider, err := client.Launch(s.ctx, o)
	if err != nil {
		return nil, err
	}
	return &running{Provider: provider, place: p, subject: s}, nil
}

// at is how to start the provider in a place.
func (s *subject) at(p *place) client.Options {
	return client.Options{
		Path: s.command[0], Args: s.command[1:], Dir: p.home, Env: p.environment(), Temp: p.temp, Timeout: s.timeout(),
		Heard: s.wire.heard, Stderr: io.MultiWriter(&stream{wire: s.wire, name: "stderr", out: s.stderr}, p.words),
	}
}

// end closes the process and looks at what it printed.
func (r *running) end() {
	r.Close()
	r.subject.wire.heard("stdout", 0, []byte(r.Printed()))
}

func (r *running) service(c commonv1.Category) service { return service{r.Conn, c} }

// configured launches a process and gives every category the block that fits.
func (s *subject) configured(adjust func(*client.Options)) (*running, error) {
	r, err := s.launch(adjust)
	if err != nil {
		return nil, err
	}
	if err := r.configure(); err != nil {
		r.end()
		return nil, err
	}
	return r, nil
}

func (r *running) configure() error {
	var problems []error
	for _, offered := range r.subject.discovery().surfaces {
		ctx, cancel := r.subject.patient()
		err := r.service(offered.category).configure(ctx, &toolv1.ConfigureRequest{Config: r.subject.block(r.place, offered.config)})
		cancel()
		if err != nil {
			problems = append(problems, fmt.Errorf("its %s service refuses the block: %w", categoryName(offered.category), err))
		}
	}
	return errors.Join(problems...)
}

// call makes the message of a call.
func (r *running) call(op operation, arguments *structpb.Struct, directory string) *toolv1.ToolCall {
	return &toolv1.ToolCall{
		Id: r.subject.nextCall(), ToolName: op.GetName(), Arguments: arguments,
		CallContext: &commonv1.CallContext{SessionId: sessionID, TurnId: turnID, WorkingDirectory: filepath.Join(r.place.work, directory)},
	}
}

// invoke makes a call and waits for its end.
func (r *running) invoke(op operation, label string, call *toolv1.ToolCall) transcript {
	ctx, cancel := r.subject.patient()
	defer cancel()
	t := r.service(op.category).invoke(ctx, op, label, call, nil)
	if len(t.terminals()) == 0 {
		t.died = r.death(t.err, t.String())
	}
	r.listen(t)
	return t
}

// death says how the process ended during what failed with err; empty when it did not end. It has a moment: the
// connection breaks first.
func (r *running) death(err error, during string) string {
	if status.Code(err) != codes.Unavailable {
		return ""
	}
	select {
	case <-r.Process.Exited():
		return fmt.Sprintf("the provider's process ended (%s) in %s%s", r.Process.Ending(), during, r.place.words)
	case <-time.After(moment):
	case <-r.subject.ctx.Done():
	}
	return ""
}

// mortal is err, or the end of the process when that is why.
func (r *running) mortal(err error, during string) error {
	if death := r.death(err, during); death != "" {
		return status.Error(codes.Unavailable, death)
	}
	return err
}

// listen looks at what was printed as a whole: a secret may fall onto two chunks.
func (r *running) listen(t transcript) {
	for _, output := range t.printed() {
		r.subject.wire.heard("the output of "+t.operation.String(), 0, output)
	}
}

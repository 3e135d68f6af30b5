package conformance

import (
	"errors"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/conformance/client"
	"github.com/agentco/agent/conformance/internal/subset"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// discovery is what a provider says of itself before it is configured.
type discovery struct {
	err       error // why it could not be asked
	surfaces  []surface
	again     []surface // the second answers
	took      map[commonv1.Category]time.Duration
	refused   map[commonv1.Category]error // how the categories that are not served answer
	described map[commonv1.Category]*commonv1.ProducerRef
	mute      map[commonv1.Category]error // how Describe failed
	early     []transcript                // calls before Configure
	died      bool                        // by one of them
}

func (s *subject) discover() discovery {
	d := discovery{
		took: map[commonv1.Category]time.Duration{}, refused: map[commonv1.Category]error{},
		described: map[commonv1.Category]*commonv1.ProducerRef{}, mute: map[commonv1.Category]error{},
	}
	r, err := s.launch(nil)
	if err != nil {
		d.err = err
		return d
	}
	defer r.end()
	for _, category := range categories {
		s.ask(&d, r.service(category))
	}
	for _, offered := range d.surfaces {
		ctx, cancel := s.patient()
		began := time.Now()
		again, err := r.service(offered.category).list(ctx)
		cancel()
		if err == nil {
			d.again = append(d.again, again)
			// The best time counts, since the machine may be busy with others.
			d.took[offered.category] = min(d.took[offered.category], time.Since(began))
		}
		for more := 4; more > 0 && err == nil && d.took[offered.category] > quick; more-- {
			_, took, err := s.listed(r.service(offered.category))
			if err == nil {
				d.took[offered.category] = min(d.took[offered.category], took)
			}
		}
	}
	for _, offered := range d.surfaces {
		for _, op := range offered.operations {
			if op.GetKind() == toolv1.ToolKind_TOOL_KIND_DATA_SOURCE {
				d.early = append(d.early, r.invoke(op, "before Configure", r.call(op, subset.Valid(op.GetInputSchema()), "")))
			}
		}
	}
	d.died = r.exitsSoon(d.early)
	return d
}

// exitsSoon reports whether one of the calls ended the process.
func (r *running) exitsSoon(calls []transcript) bool {
	if !slices.ContainsFunc(calls, func(t transcript) bool { return status.Code(t.err) == codes.Unavailable }) {
		return r.Exited()
	}
	select {
	case <-r.Process.Exited():
		return true
	case <-time.After(r.subject.timeout()):
		return false
	}
}

// whole reports whether every category either answered or is not served.
func (d discovery) whole() bool {
	for _, err := range d.refused {
		if !absent(err) {
			return false
		}
	}
	return true
}

func (s *subject) ask(d *discovery, of service) {
	offered, took, err := s.listed(of)
	if late(err) {
		// Once more: the machine may have been busy.
		offered, took, err = s.listed(of)
	}
	if err != nil {
		d.refused[of.category] = err
		return
	}
	d.took[of.category] = took
	d.surfaces = append(d.surfaces, offered)
	ctx, cancel := s.patient()
	defer cancel()
	ref, err := of.describe(ctx)
	if err != nil {
		d.mute[of.category] = err
		return
	}
	d.described[of.category] = ref
}

// listed asks for the operations of a category, and for how long the answer takes.
func (s *subject) listed(of service) (surface, time.Duration, error) {
	ctx, cancel := s.patient()
	defer cancel()
	began := time.Now()
	offered, err := of.list(ctx)
	return offered, time.Since(began), err
}

// operations are those of every category.
func (d discovery) operations() (all []operation) {
	for _, offered := range d.surfaces {
		all = append(all, offered.operations...)
	}
	return all
}

// find gives the operation of a name, a tool before a command.
func (d discovery) find(name string) (operation, bool) {
	all := d.operations()
	i := slices.IndexFunc(all, func(op operation) bool { return op.GetName() == name })
	if i < 0 {
		return operation{}, false
	}
	return all[i], true
}

// provider is what Describe says, for a report's head.
func (d discovery) provider() string {
	for _, category := range categories {
		if ref := d.described[category]; ref != nil {
			return ref.GetName() + " " + ref.GetVersion()
		}
	}
	return ""
}

// same reports whether two answers offer the same.
func same(a, b surface) bool {
	if len(a.operations) != len(b.operations) || !slices.Equal(a.hooks, b.hooks) || !proto.Equal(a.config, b.config) {
		return false
	}
	for i := range a.operations {
		if !proto.Equal(a.operations[i].ToolSchema, b.operations[i].ToolSchema) {
			return false
		}
	}
	return slices.EqualFunc(a.prompts, b.prompts, func(x, y *commonv1.PromptExpansionSpec) bool { return proto.Equal(x, y) })
}

// differing names the categories whose answers are not those of before.
func (d discovery) differing(later []surface) (names []string) {
	for _, offered := range d.surfaces {
		i := slices.IndexFunc(later, func(l surface) bool { return l.category == offered.category })
		if i < 0 || !same(offered, later[i]) {
			names = append(names, service{category: offered.category}.listing())
		}
	}
	return names
}

// offline is what the provider says of itself without a network.
type offline struct {
	err      error // why it could not be asked
	surfaces []surface
}

func (s *subject) discoverOffline() (out offline) {
	r, err := s.launch(func(o *client.Options) { o.Offline = true })
	if err != nil {
		out.err = err
		return out
	}
	defer r.end()
	for _, offered := range s.discovery().surfaces {
		ctx, cancel := s.patient()
		again, err := r.service(offered.category).list(ctx)
		cancel()
		if err != nil {
			out.err = errors.Join(out.err, err)
			continue
		}
		out.surfaces = append(out.surfaces, again)
	}
	return out
}

// refusal is what became of a block that does not fit.
type refusal struct {
	category  commonv1.Category
	fault     string // "missing", "type" or "unknown"
	attribute string
	err       error // the answer; nil when the block was taken
}

// refuse gives the provider blocks with one fault each. One that was taken has configured the process, so the next gets
// a new one.
func (s *subject) refuse() (out []refusal) {
	r, err := s.launch(nil)
	if err != nil {
		return nil
	}
	defer func() {
		if r != nil {
			r.end()
		}
	}()
	for _, offered := range s.discovery().surfaces {
		for _, wrong := range s.wrongBlocks(r.place, offered.config) {
			ctx, cancel := s.patient()
			err := r.service(offered.category).configure(ctx, &toolv1.ConfigureRequest{Config: wrong.block})
			cancel()
			out = append(out, refusal{offered.category, wrong.fault, wrong.attribute, err})
			if err != nil && !r.Exited() {
				continue
			}
			r.end()
			if r, err = s.launch(nil); err != nil {
				return out
			}
		}
	}
	return out
}

// wrongBlock is a block with one fault.
type wrongBlock struct {
	fault, attribute string
	block            *structpb.Struct
}

// stranger is an attribute that no schema has.
const stranger = "conformance_unknown"

func (s *subject) wrongBlocks(p *place, schema *configv1.ConfigSchema) (out []wrongBlock) {
	good := s.block(p, schema)
	for _, a := range schema.GetAttributes() {
		if a.GetRequired() {
			out = append(out, wrongBlock{"missing", a.GetName(), subset.With(good, a.GetName(), nil)})
		}
		if wrong := misfit(a); wrong != nil {
			out = append(out, wrongBlock{"type", a.GetName(), subset.With(good, a.GetName(), wrong)})
		}
	}
	return append(out, wrongBlock{"unknown", stranger, subset.With(good, stranger, structpb.NewBoolValue(true))})
}

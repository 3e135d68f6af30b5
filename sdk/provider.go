package sdk

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/agentco/agent/sdk/internal/config"
)

// Provider is a set of operations that share a name, a configuration of type C and a process. Build it with
// [New], add to it with [Tool] and [Command], and hand it to [Main]. It is not safe for concurrent use until then.
//
// The fields of C that have an hcl tag are the attributes of the provider block in agent.hcl:
//
//	type config struct {
//		Root  string   `hcl:"root" doc:"Directory the tools may read."`
//		Token string   `hcl:"token,optional" doc:"For private mirrors." sensitive:"true"`
//		Skip  []string `hcl:"skip" default:"[\".git\"]" doc:"Names to leave out."`
//		index *index // the provider's own, opened in Setup
//	}
//
// They may be strings, booleans, int, int64, float64; [Root], [Dir], [File], time.Duration and whatever has
// UnmarshalText, all of which are strings on the wire; slices of strings or numbers, maps of strings, and structs of
// these. A pointer is nil when its attribute is left out. A default is JSON, or plain text for a string, and makes the
// attribute optional.
//
// A sensitive attribute holds text. Wherever one of its values of eight bytes or more, or a line of eight bytes
// or more of one, would leave the provider by way of the SDK (in events, results, errors, renders, the log), eight
// asterisks stand in its place.
type Provider[C any] struct {
	name        string
	description string
	version     string
	source      string
	config      *config.Type
	setup       func(context.Context, *C, Env) error
	close       func(*C) error
	operations  []operation
	described   int // bytes that they take on the wire
	started     atomic.Bool
}

// Env is what a provider may know of its surroundings before the first call.
type Env struct {
	// Dir is the directory the kernel started the provider in: the root of the project.
	Dir string
}

// New starts a provider. The name is how agent.hcl calls it, for example "wordcount". It panics when C cannot be
// a configuration or the name is none, which are faults of the program.
func New[C any](name, description string) *Provider[C] {
	t, err := config.Of(reflect.TypeFor[C](), pathTypes)
	if err != nil {
		panic(fmt.Sprintf("sdk: provider %q: %v", name, err))
	}
	if !validName(name) {
		panic(fmt.Sprintf("sdk: provider name %q: use 1 to 64 of a-z A-Z 0-9 _ -", name))
	}
	return &Provider[C]{name: name, description: description, version: buildVersion(), config: t}
}

// semantic is a version as semver.org writes it.
var semantic = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)
})

// Version sets the semantic version of the build, with or without a leading v. It panics when it is none. An empty one
// changes nothing: the default is the version of the main module as the go command recorded it, or 0.0.0-dev.
func (p *Provider[C]) Version(version string) *Provider[C] {
	if version == "" {
		return p
	}
	bare := strings.TrimPrefix(version, "v")
	if !semantic().MatchString(bare) {
		panic(fmt.Sprintf("sdk: provider %q: version %q is not MAJOR.MINOR.PATCH, such as 1.2.3 or 1.2.3-rc.1", p.name, version))
	}
	p.version = bare
	return p
}

// Source sets the address the provider is released at, for example "github.com/agentco/provider-wordcount".
func (p *Provider[C]) Source(address string) *Provider[C] {
	p.source = address
	return p
}

// Setup sets the function that prepares a decoded configuration for use: it checks what the types cannot say and
// opens what the calls need, keeping it in fields of cfg without an hcl tag. It runs in Configure, until it has
// succeeded once, and ctx is of no use after it. An error refuses the configuration, best made with [BadField].
func (p *Provider[C]) Setup(setup func(ctx context.Context, cfg *C, env Env) error) *Provider[C] {
	p.setup = setup
	return p
}

// Close sets the function that ends whatever Setup and the calls have left open. It runs once, after the last
// call, also when the kernel has died or SIGTERM has come; it then has five seconds.
func (p *Provider[C]) Close(end func(cfg *C) error) *Provider[C] {
	p.close = end
	return p
}

func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return "0.0.0-dev"
}

// add registers an operation. It refuses one that is at fault or whose name is taken.
func (p *Provider[C]) add(op operation) error {
	s := op.about()
	if err := s.fault(); err != nil {
		return fmt.Errorf("provider %q: %w", p.name, err)
	}
	if p.started.Load() {
		return fmt.Errorf("provider %q: %q comes too late; a kernel asks for operations once, before Configure", p.name, s.name)
	}
	for _, other := range p.operations {
		if o := other.about(); o.command == s.command && o.name == s.name {
			return fmt.Errorf("provider %q: %q is registered twice", p.name, s.name)
		}
	}
	size, err := s.size()
	if err != nil {
		return fmt.Errorf("provider %q: %w", p.name, err)
	}
	if p.described += size; p.described > messageBytes {
		p.described -= size
		return fmt.Errorf("provider %q: with %q its operations take %d bytes to describe, and one message carries at most %d", p.name, s.name, p.described+size, messageBytes)
	}
	p.operations = append(p.operations, op)
	return nil
}

func validName(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for _, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		digit := r >= '0' && r <= '9'
		if !letter && !digit && r != '_' && r != '-' {
			return false
		}
	}
	return true
}

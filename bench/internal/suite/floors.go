package suite

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/agentco/agent/bench/internal/floor"
	"github.com/agentco/agent/bench/internal/subject"
	"github.com/agentco/agent/sdk/jail"
)

// The floors: what nothing that does the same can beat.
const (
	inProcess = "in-process"
	inJail    = "in-jail"
	goPlugin  = "go-plugin"
	streamed  = "go-plugin-stream"
)

var floorsAbout = map[string]string{
	inProcess: "the work in this process, with nothing around it",
	inJail:    "the same through sdk/jail, as a provider opens files",
	goPlugin:  "a bare provider over go-plugin with mutual TLS (cmd/floorplugin)",
	streamed:  "the same, called over a stream that brings one message, as calls of ours are",
}

// floorNotes say what rows of the floors are about.
var floorNotes = map[string]string{"list10k": "name"}

// floorOps are the operations of the floors, before they are started.
func floorOps() map[string]map[string]subject.Function {
	return map[string]map[string]subject.Function{
		inProcess: inProcessHas(nil), inJail: inJailHas(nil), goPlugin: goPluginHas(nil), streamed: streamedHas(nil),
	}
}

// floors are the subjects that do nothing but the work.
func floors(vars subject.Vars) ([]subject.Subject, error) {
	keep, err := os.CreateTemp(vars["home"], "kept-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(keep.Name()); err != nil { // it goes with this process
		return nil, err
	}
	j, err := jail.New(jail.Options{Roots: []string{vars["fx"]}})
	if err != nil {
		return nil, err
	}
	provider, err := floor.Start(filepath.Join(vars["bin"], "floorplugin"))
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return []subject.Subject{
		&subject.Functions{Called: inProcess, Has: inProcessHas(keep), End: func() { _ = keep.Close() }},
		&subject.Functions{Called: inJail, Has: inJailHas(j), End: func() { _ = j.Close() }},
		&subject.Functions{Called: goPlugin, Has: goPluginHas(provider), Process: provider.PID, End: provider.Kill},
		&subject.Functions{Called: streamed, Has: streamedHas(provider), Process: provider.PID},
	}, nil
}

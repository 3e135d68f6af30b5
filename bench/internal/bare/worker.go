package bare

import (
	"context"
	"fmt"
	"os"

	"github.com/agentco/agent/bench/internal/floor"
)

// arguments are those of all tools.
type arguments struct {
	Path, Content, Old, New, Command, Suffix, Needle string
}

// worker carries out tools; with a provider, that one reads and runs.
type worker struct{ provider *floor.Started }

func (w worker) do(ctx context.Context, tool string, a arguments, out func([]byte) error) (string, error) {
	switch tool {
	case "read":
		return w.read(ctx, a.Path)
	case "write":
		return "ok", os.WriteFile(a.Path, []byte(a.Content), 0o644)
	case "edit":
		return "ok", floor.Edit(a.Path, a.Old, a.New, false)
	case "list":
		return floor.List(a.Path)
	case "walk":
		return floor.Walk(a.Path, a.Suffix)
	case "grep":
		return floor.Grep(ctx, a.Path, a.Needle)
	case "run":
		return "", w.run(ctx, a.Command, out)
	}
	return "", fmt.Errorf("there is no tool %s", tool)
}

func (w worker) read(ctx context.Context, path string) (string, error) {
	var b []byte
	var err error
	if w.provider != nil {
		b, err = w.provider.Call(ctx, "r"+path)
	} else {
		b, err = os.ReadFile(path)
	}
	return string(b), err
}

func (w worker) run(ctx context.Context, command string, out func([]byte) error) error {
	if w.provider == nil {
		return floor.RunPTY(ctx, command, out)
	}
	var failed error
	err := w.provider.Stream(ctx, "p"+command, func(b []byte) { failed = out(b) })
	if err == nil {
		err = failed
	}
	return err
}

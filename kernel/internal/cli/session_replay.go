package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/agentco/agent/kernel/internal/session"
	"github.com/agentco/agent/kernel/internal/session/export"
	"github.com/agentco/agent/kernel/internal/session/history"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

func (a *app) sessionReplayCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "replay SESSION",
		Short: "Show what a session showed",
		Long: `Show what a session showed: what each call printed, and its result as its provider renders it.

Nothing is called again, and nothing is changed. Providers are only asked to render what they have returned then,
and only in the version that did; where another one is installed, the result is shown as it is kept, and it is
said what to install.`,
		Example: `  agent session replay last
  agent session replay 01JAB --json`,
		Args:              oneSession,
		ValidArgsFunction: a.completeSession,
		RunE:              func(_ *cobra.Command, args []string) error { return a.sessionReplay(args[0]) },
	}
}

func (a *app) sessionReplay(word string) error {
	f, err := a.openSession(word)
	if err != nil {
		return err
	}
	defer f.Close()
	calls, err := history.Calls(a.ctx, f)
	if err != nil {
		return err
	}
	r := a.renderers(calls)
	defer r.close()
	if a.flags.json {
		a.replayJSON(f, calls, r)
		return nil
	}
	a.sessionHead(f.Meta())
	for _, c := range calls {
		if err := a.replay(f, c, r); err != nil {
			return err
		}
	}
	for _, missing := range r.missing {
		a.warn(missing)
	}
	return nil
}

// replayJSON writes a line for each call, with what its provider renders, and one that says what could not be rendered.
func (a *app) replayJSON(f *session.File, calls []*history.Call, r *renderers) {
	for _, c := range calls {
		line := map[string]any{"call": keptCall(c)}
		if tree := r.render(a.ctx, c); tree != nil {
			line["rendering"] = protoJSON(tree)
		}
		a.writeJSON(line)
	}
	missing := r.missing
	if missing == nil {
		missing = []string{}
	}
	a.writeJSON(map[string]any{"session": export.Of(f.Meta()), "missing": missing})
}

// replay shows one call.
func (a *app) replay(f *session.File, c *history.Call, r *renderers) error {
	p := a.display.OutPainter()
	head := p.Bold("▸ "+paint.Line(c.String())) + " " + p.Dim(c.Began.Local().Format(time.TimeOnly))
	if arguments := plainArguments(c); arguments != "" {
		head += " " + paint.Line(arguments)
	}
	a.printf("\n%s\n", head)
	streamed := false
	for o, err := range f.Output(a.ctx, c.ID) {
		if err != nil {
			return err
		}
		if o.Skipped > 0 {
			a.printf("%s\n", p.Dim(fmt.Sprintf("[%d bytes were not kept]", o.Skipped)))
			continue
		}
		stream := toolv1.OutputStream_OUTPUT_STREAM_STDOUT
		if o.Stream == session.Stderr {
			stream = toolv1.OutputStream_OUTPUT_STREAM_STDERR
		}
		streamed = true
		a.display.Chunk(&toolv1.ToolEvent_OutputChunk{Stream: stream, Data: o.Data})
	}
	a.display.EndOutput()
	switch {
	case c.Result != nil:
		tree := r.render(a.ctx, c)
		if tree == nil {
			tree = gate.Pretty(c.Result)
		}
		if streamed {
			tree = without(tree, isCode)
		}
		a.printf("%s", p.Tree(tree))
	case c.Error != nil:
		a.printf("%s%s: %s\n", p.Error(c.Status+": "), category(c.Error.GetCategory().String()), paint.Text(c.Error.GetMessage()))
	default:
		a.printf("%s\n", p.Warning(c.Status)+": how it ended is not known")
	}
	return nil
}

func plainArguments(c *history.Call) string {
	var parts []string
	for name, value := range c.Arguments.AsMap() {
		parts = append(parts, fmt.Sprintf("%s=%v", name, value))
	}
	slices.Sort(parts)
	return paint.Clip(strings.Join(parts, " "), 120)
}

// renderers are the providers that can show again what they have once returned.
type renderers struct {
	engine  *engine.Engine
	missing []string
	told    map[string]bool
}

// renderers starts the providers whose results are to be shown, as far as they are there in the right version.
func (a *app) renderers(calls []*history.Call) *renderers {
	r := &renderers{told: map[string]bool{}}
	var names []string
	for _, c := range calls {
		if c.Result != nil && !slices.Contains(names, c.Producer.Name) {
			names = append(names, c.Producer.Name)
		}
	}
	if len(names) == 0 {
		return r
	}
	p, err := a.read()
	if err != nil {
		var none *config.NoProjectError
		if !errors.As(err, &none) {
			r.missing = append(r.missing, fmt.Sprintf("results are shown as they are kept: the project cannot be read: %v", err))
		}
		return r
	}
	names = slices.DeleteFunc(names, func(name string) bool { return p.Provider(name) == nil })
	if len(names) == 0 {
		return r
	}
	e, err := a.start(p, names...)
	if err != nil {
		for _, e := range flatten(err) {
			r.missing = append(r.missing, "results are shown as they are kept: "+e.Error())
		}
	}
	r.engine = e
	return r
}

func (r *renderers) close() {
	if r.engine != nil {
		r.engine.Close()
	}
}

// render asks the provider that has returned a result to show it. It is nil when that version is not there, which is
// noted once, or has nothing to show.
func (r *renderers) render(ctx context.Context, c *history.Call) *renderv1.RenderTree {
	if c.Result == nil {
		return nil
	}
	if here, ok := r.version(c.Producer); !ok || here != c.Producer.Version {
		r.lacks(c.Producer, here, ok)
		return nil
	}
	op := engine.Operation{Provider: c.Producer.Name, Name: c.Tool, Category: commonv1.Category_CATEGORY_TOOL}
	if c.Producer.Category == "slashcommand" {
		op.Category = commonv1.Category_CATEGORY_SLASHCOMMAND
	}
	return r.engine.RenderPart(ctx, op, c.Result)
}

// version is that of a provider that has started.
func (r *renderers) version(p session.Producer) (version string, ok bool) {
	if r.engine == nil {
		return "", false
	}
	for _, info := range r.engine.Providers() {
		for _, ref := range info.Producers {
			if info.Name == p.Name && strings.EqualFold(ref.GetCategory().String(), "CATEGORY_"+p.Category) {
				return ref.GetVersion(), true
			}
		}
	}
	return "", false
}

// lacks notes what would have to be there to show results as they were.
func (r *renderers) lacks(p session.Producer, here string, started bool) {
	key := p.Name + " " + p.Version
	if r.told[key] {
		return
	}
	r.told[key] = true
	text := fmt.Sprintf("results of %s are shown as they are kept: ", strings.TrimSpace(key))
	if started {
		text += fmt.Sprintf("version %s is there instead. Install %s to see them as they were: set version = \"%s\" for it in agent.hcl and run 'agent init --upgrade'", here, key, p.Version)
	} else {
		text += fmt.Sprintf("the provider is not there. Run this in a project that requires it in version %s, after 'agent init'", p.Version)
	}
	r.missing = append(r.missing, text)
}

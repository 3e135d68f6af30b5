package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/agentco/agent/kernel/internal/session"
	"github.com/agentco/agent/kernel/internal/session/export"
	"github.com/agentco/agent/kernel/internal/session/history"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

func (a *app) sessionReplayCommand() *cobra.Command {
	return a.aboutOne(&cobra.Command{
		Use:   "replay [SESSION]",
		Short: "Show what a session showed",
		Long: `Show what a session showed: what each call printed, and its result as its provider renders it.

Nothing is called again, and nothing is changed. Providers are only asked to render what they have returned then,
and only in the version that did; where another one is installed, the result is shown as it is kept, and it is
said what to install.`,
		Example: `  agent session replay
  agent session replay 01JAB --json`,
	}, a.sessionReplay)
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
	r := a.renderers(f.Meta())
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
	head := p.Bold("▸ "+paint.Line(c.String())) + " " + p.Dim(began(c))
	if arguments := plainArguments(c.Arguments()); arguments != "" {
		head += " " + paint.Line(arguments)
	}
	a.printf("\n%s\n", head)
	if requested := c.Requested(); requested != nil {
		a.printf("%s\n", p.Dim("asked for with "+paint.Line(cmp.Or(plainArguments(requested), "no arguments"))))
	}
	if c.Lost {
		a.printf("%s\n", p.Warning(paint.Line(c.LostNote())))
	}
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
		switch {
		case tree == nil:
			tree = gate.Pretty(c.Result)
		case streamed:
			tree = without(tree, isCode) // it is the output again
		}
		a.printf("%s", p.Tree(tree))
	case c.Error != nil:
		a.printf("%s%s\n", p.Error(c.Status+": "), paint.Text(ofKind(c)))
	default:
		a.printf("%s\n", p.Warning(c.Status)+": how it ended is not known")
	}
	return nil
}

// ofKind is why a call did not complete, behind its kind where the status does not say that already.
func ofKind(c *history.Call) string {
	kind := category(c.Error.GetCategory().String())
	if kind == c.Status {
		return c.Error.GetMessage()
	}
	return kind + ": " + c.Error.GetMessage()
}

func plainArguments(arguments *structpb.Struct) string {
	var parts []string
	for name, value := range arguments.AsMap() {
		parts = append(parts, fmt.Sprintf("%s=%v", name, value))
	}
	slices.Sort(parts)
	return paint.Clip(strings.Join(parts, " "), 120)
}

package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/paint"
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

type toolEvent = toolv1.ToolEvent

// humanView shows a call as it goes.
type humanView struct {
	a       *app
	engine  *engine.Engine
	op      engine.Operation
	painter paint.Painter
	// streamed is set once output was shown: the result need not show it again.
	streamed bool
}

func newHumanView(a *app, e *engine.Engine, op engine.Operation, markdown bool) *humanView {
	v := &humanView{a: a, engine: e, op: op, painter: a.display.OutPainter()}
	if markdown {
		v.painter.Format = paint.Markdown
	}
	return v
}

func (v *humanView) event(ev *toolEvent) {
	switch ev := ev.GetEvent().(type) {
	case *toolv1.ToolEvent_OutputChunk_:
		v.streamed = v.streamed || len(ev.OutputChunk.GetData()) > 0
		v.a.display.Chunk(ev.OutputChunk)
	case *toolv1.ToolEvent_Progress_:
		v.a.display.SetStatus(progressText(ev.Progress))
	case *toolv1.ToolEvent_PartialResult_:
		v.partial(ev.PartialResult.GetPayload())
	}
}

func progressText(p *toolv1.ToolEvent_Progress) string {
	text := paint.Line(p.GetMessage())
	if p.FractionComplete != nil && !math.IsNaN(p.GetFractionComplete()) {
		text = fmt.Sprintf("%s %3.0f %%", text, 100*min(max(p.GetFractionComplete(), 0), 1))
	}
	return strings.TrimSpace(text)
}

// partial shows a part of the result. A note of a cancelled call comes with the outcome.
func (v *humanView) partial(payload *structpb.Struct) {
	if v.a.ctx.Err() != nil {
		return
	}
	if note, ok := payload.GetFields()["note"]; ok && len(payload.GetFields()) == 1 {
		v.a.display.Note(v.a.display.ErrPainter().Dim(paint.Line(note.GetStringValue())))
		return
	}
	v.print(v.engine.Render(v.a.ctx, v.op, payload))
}

func (v *humanView) print(t *renderv1.RenderTree) {
	_, _ = io.WriteString(v.a.display.Out(), v.painter.Tree(t))
}

func (v *humanView) outcome(o engine.Outcome) {
	v.a.display.SetStatus("")
	v.a.display.EndOutput()
	p := v.a.display.ErrPainter()
	switch o.Status {
	case engine.Completed:
		v.result(o)
	case engine.Cancelled:
		if v.a.display.OutError() == nil {
			v.a.display.Note(p.Warning("cancelled: ") + reported(o))
		}
	case engine.Denied:
		if o.Plan.GetPreview() != nil && !v.a.prompt.asked {
			v.a.display.Note(planned(o.Plan, p)) // whoever reads this later has to know what it was
		}
		v.a.display.Note(p.Error("denied: ") + paint.Text(o.Error.GetMessage()))
	default:
		v.failure(o)
	}
}

// result paints what the provider makes of its payload.
func (v *humanView) result(o engine.Outcome) {
	// The call is over: showing it must not depend on a Ctrl-C that came too late.
	tree := v.engine.Render(context.WithoutCancel(v.a.ctx), v.op, o.Result)
	if v.streamed {
		tree = withoutCode(tree)
	}
	v.print(tree)
}

func (v *humanView) failure(o engine.Outcome) {
	p := v.a.display.ErrPainter()
	head := "error: "
	if o.Status == engine.Crashed {
		head = "crashed: "
	}
	lines := p.Error(head) + category(o.Error.GetCategory().String()) + ": " + paint.Text(o.Error.GetMessage())
	if o.ExitStatus != nil {
		lines += "\n" + p.Dim(exitText(o.ExitStatus.GetExitCode(), paint.Line(o.ExitStatus.GetSignal())))
	}
	v.a.display.Note(lines + reportLine(o))
}

// reported is what is known of a cancelled call.
func reported(o engine.Outcome) string {
	if o.Report == nil || o.Report.Note == "" {
		return paint.Text(o.Error.GetMessage())
	}
	return paint.Text(o.Report.Note)
}

func reportLine(o engine.Outcome) string {
	if o.Report == nil || o.Report.Note == "" {
		return ""
	}
	return "\n" + paint.Text(o.Report.Note)
}

// withoutCode drops the code blocks of a result whose output was streamed: they would show it once more.
func withoutCode(t *renderv1.RenderTree) *renderv1.RenderTree {
	switch n := t.GetRoot().GetNode().(type) {
	case *renderv1.RenderNode_CodeBlock:
		return nil
	case *renderv1.RenderNode_Group:
		var kept []*renderv1.RenderNode
		for _, c := range n.Group.GetChildren() {
			if rest := withoutCode(&renderv1.RenderTree{Root: c}); rest != nil {
				kept = append(kept, rest.GetRoot())
			}
		}
		return &renderv1.RenderTree{Root: &renderv1.RenderNode{Node: &renderv1.RenderNode_Group{Group: &renderv1.GroupNode{Children: kept}}}}
	case *renderv1.RenderNode_Collapsible:
		if len(n.Collapsible.GetChildren()) == 1 && n.Collapsible.GetChildren()[0].GetCodeBlock() != nil {
			return nil
		}
		return t
	default:
		return t
	}
}

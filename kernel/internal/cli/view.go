package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"regexp"
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
	// label is the name of the call among others; empty when there are none.
	label string
	// streamed is set once output was shown: the result need not show it again.
	streamed bool
	// note is the last one that was shown.
	note string
	late lateOutput
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
		if v.a.ctx.Err() == nil || !v.a.display.isTerminal() || !v.late.keep(ev.OutputChunk) {
			v.a.display.Chunk(ev.OutputChunk)
		}
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
		v.note = note.GetStringValue()
		v.a.display.Note(v.a.display.ErrPainter().Dim(v.named(paint.Line(v.note))))
		return
	}
	if part := v.engine.RenderPart(v.a.ctx, v.op, payload); part != nil {
		v.head("")
		v.print(part)
	}
}

func (v *humanView) print(t *renderv1.RenderTree) {
	_, _ = io.WriteString(v.a.display.Out(), v.painter.Tree(t))
}

func (v *humanView) outcome(o engine.Outcome) {
	v.a.display.SetStatus("")
	v.late.end(v.a.display)
	v.a.display.EndOutput()
	p := v.a.display.ErrPainter()
	switch o.Status {
	case engine.Completed:
		v.result(o)
	case engine.Cancelled:
		if v.a.display.OutError() == nil {
			v.a.display.Note(p.Warning("cancelled: ") + v.named(reported(o)))
		}
	case engine.Denied:
		v.a.display.Note(p.Error("denied: ") + v.named(paint.Text(o.Error.GetMessage())))
	default:
		v.failure(o)
	}
}

// result paints what the provider makes of its payload.
func (v *humanView) result(o engine.Outcome) {
	// The call is over: showing it must not depend on a Ctrl-C that came too late.
	tree := v.engine.Render(context.WithoutCancel(v.a.ctx), v.op, o.Result)
	if v.streamed {
		tree = without(tree, isCode)
	}
	if v.a.prompt.asked && o.Plan.GetPreview() != nil {
		tree = without(tree, isDiff) // the person who approved it has just seen it
	}
	v.head(callTook(o))
	shown := v.painter.Tree(tree)
	_, _ = io.WriteString(v.a.display.Out(), shown)
	v.ended(o, shown)
}

// ended says how the process of a completed call ended when it failed and what is shown of the result does not tell.
func (v *humanView) ended(o engine.Outcome, shown string) {
	if o.Good() || tells(shown, o.ExitStatus) {
		return
	}
	v.a.display.Note(v.a.display.ErrPainter().Dim(v.named(exitText(o.ExitStatus.GetExitCode(), paint.Line(o.ExitStatus.GetSignal())))))
}

// tells reports whether what a provider shows says how its process ended.
func tells(shown string, end *toolv1.ToolEvent_ExitStatus) bool {
	if end.GetSignal() != "" && strings.Contains(shown, paint.Line(end.GetSignal())) {
		return true
	}
	said := regexp.MustCompile(fmt.Sprintf(`exit (code|status) %d\b`, end.GetExitCode()))
	return said.MatchString(strings.Join(strings.Fields(shown), " "))
}

// head says whose result comes next, when there are several calls.
func (v *humanView) head(took string) {
	if v.label != "" {
		v.a.printf("%s%s\n", v.painter.Bold(paint.Line(v.label)), v.painter.Dim(" · "+paint.Line(v.op.String())+took))
	}
}

// named puts the name of the call before what is said of it.
func (v *humanView) named(text string) string {
	if v.label == "" {
		return text
	}
	return paint.Line(v.label) + ": " + text
}

func (v *humanView) failure(o engine.Outcome) {
	p := v.a.display.ErrPainter()
	head := "error: "
	if o.Status == engine.Crashed {
		head = "crashed: "
	}
	message := o.Error.GetMessage()
	if v.note != "" {
		message = strings.TrimSuffix(message, ": "+v.note)
	}
	lines := p.Error(head) + v.named(category(o.Error.GetCategory().String())+": "+paint.Text(message))
	if o.ExitStatus != nil {
		lines += "\n" + p.Dim(exitText(o.ExitStatus.GetExitCode(), paint.Line(o.ExitStatus.GetSignal())))
	}
	if report := o.Report; report != nil && report.Note != v.note && !strings.Contains(message, report.Note) {
		lines += "\n" + paint.Text(report.Note)
	}
	if o.Attempts > 1 {
		lines += "\n" + p.Dim(fmt.Sprintf("tried %d times", o.Attempts))
	}
	v.a.display.Note(lines + v.stack(o.Error))
}

// reported is what is known of a cancelled call.
func reported(o engine.Outcome) string {
	if o.Report == nil || o.Report.Note == "" {
		return paint.Text(o.Error.GetMessage())
	}
	return paint.Text(o.Report.Note)
}

// stack is where a provider panicked, for those who look for the reason.
func (v *humanView) stack(e *toolv1.ToolError) string {
	stack := e.GetDetails().GetFields()["stack"].GetStringValue()
	switch {
	case stack == "":
		return ""
	case v.a.logLevel.Level() > slog.LevelDebug:
		return "\n" + v.a.display.ErrPainter().Dim("--log-level debug shows where")
	default:
		return "\n  " + strings.ReplaceAll(paint.Text(strings.TrimSpace(stack)), "\n", "\n  ")
	}
}

func isCode(n *renderv1.RenderNode) bool { return n.GetCodeBlock() != nil }

func isDiff(n *renderv1.RenderNode) bool {
	return n.GetDiff() != nil || n.GetCodeBlock().GetLanguage() == "diff"
}

// without leaves out of a result what has been shown before.
func without(t *renderv1.RenderTree, shown func(*renderv1.RenderNode) bool) *renderv1.RenderTree {
	root := t.GetRoot()
	switch n := root.GetNode().(type) {
	case *renderv1.RenderNode_Group:
		var kept []*renderv1.RenderNode
		for _, c := range n.Group.GetChildren() {
			if rest := without(&renderv1.RenderTree{Root: c}, shown); rest != nil {
				kept = append(kept, rest.GetRoot())
			}
		}
		return &renderv1.RenderTree{Root: &renderv1.RenderNode{Node: &renderv1.RenderNode_Group{Group: &renderv1.GroupNode{Children: kept}}}}
	case *renderv1.RenderNode_Collapsible:
		if len(n.Collapsible.GetChildren()) == 1 && shown(n.Collapsible.GetChildren()[0]) {
			return nil
		}
		return t
	default:
		if shown(root) {
			return nil
		}
		return t
	}
}

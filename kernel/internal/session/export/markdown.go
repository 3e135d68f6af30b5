package export

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/agentco/agent/kernel/internal/session"
	"github.com/agentco/agent/kernel/internal/session/history"
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// Markdown writes a session for people: a heading a call, with what it was asked for, what it printed, and how it ended.
func Markdown(ctx context.Context, f *session.File, to io.Writer) error {
	calls, err := history.Calls(ctx, f)
	if err != nil {
		return err
	}
	m := f.Meta()
	d := document{to: to}
	d.line("# Session " + m.ID)
	d.line("")
	d.tree(table([][]string{
		{"status", string(m.Status)}, {"started", m.Started.Format(time.RFC3339)}, {"ended", moment(m.Ended)},
		{"command", m.Command}, {"project", m.Project}, {"profile", m.Profile},
	}))
	for i, c := range calls {
		d.line("")
		d.line(fmt.Sprintf("## %d. %s", i+1, strings.TrimSpace(paint.Painter{Format: paint.Markdown}.Tree(text(c.String())))))
		d.line("")
		if err := d.call(ctx, f, c); err != nil {
			return err
		}
	}
	return d.err
}

// document writes until something fails.
type document struct {
	to  io.Writer
	err error
}

func (d *document) line(s string) {
	if d.err == nil {
		_, d.err = io.WriteString(d.to, s+"\n")
	}
}

func (d *document) tree(t *renderv1.RenderTree) {
	if d.err == nil {
		_, d.err = io.WriteString(d.to, paint.Painter{Format: paint.Markdown}.Tree(t))
	}
}

func (d *document) call(ctx context.Context, f *session.File, c *history.Call) error {
	rows := [][]string{{"status", c.Status}, {"began", moment(c.Began)}}
	if c.Took() > 0 {
		rows = append(rows, []string{"took", c.Took().Round(time.Millisecond).String()})
	}
	rows = append(rows, []string{"decided by", c.DecidedBy()})
	d.tree(table(append(rows, []string{"provider", strings.TrimSpace(c.Producer.Name + " " + c.Producer.Version)})))
	if c.Lost {
		d.section("Lost", text(c.LostNote()))
	}
	if arguments := c.Arguments(); len(arguments.GetFields()) > 0 {
		d.section("Arguments", code("json", pretty(arguments)))
	}
	if requested := c.Requested(); requested != nil {
		d.section("Asked for with", code("json", pretty(requested)))
	}
	if c.Plan.GetPreview() != nil {
		d.section("Plan", c.Plan.GetPreview())
	}
	printed, err := plainOutput(ctx, f, c.ID)
	if err != nil {
		return err
	}
	if printed != "" {
		d.section("Output", code("", printed))
	}
	switch {
	case c.Result != nil:
		d.section("Result", code("json", pretty(c.Result)))
	case c.Error != nil:
		d.section("Error", text(category(c.Error)+": "+c.Error.GetMessage()))
		if len(c.Error.GetDetails().GetFields()) > 0 {
			d.line("")
			d.tree(code("json", pretty(c.Error.GetDetails())))
		}
	}
	return nil
}

func (d *document) section(title string, t *renderv1.RenderTree) {
	d.line("")
	d.line("**" + title + "**")
	d.line("")
	d.tree(t)
}

// plainOutput is what a call has printed, without colours.
func plainOutput(ctx context.Context, f *session.File, callID string) (string, error) {
	var out strings.Builder
	painter := paint.Output{}
	for o, err := range f.Output(ctx, callID) {
		if err != nil {
			return "", err
		}
		if o.Skipped > 0 {
			out.WriteString(painter.Break() + missing(o.Skipped))
			continue
		}
		out.WriteString(painter.Chunk(streamOf(o), o.Data))
	}
	out.WriteString(painter.End())
	return out.String(), nil
}

func missing(bytes int64) string { return fmt.Sprintf("[%d bytes were not kept]\n", bytes) }

func streamOf(o session.Output) toolv1.OutputStream {
	if o.Stream == session.Stderr {
		return toolv1.OutputStream_OUTPUT_STREAM_STDERR
	}
	return toolv1.OutputStream_OUTPUT_STREAM_STDOUT
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

func category(e *toolv1.ToolError) string {
	return strings.ToLower(strings.TrimPrefix(e.GetCategory().String(), "TOOL_ERROR_CATEGORY_"))
}

func pretty(s *structpb.Struct) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(s.AsMap()); err != nil {
		return s.String() // infinity and its like have no place in JSON
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// table is a table of names and values, without those that are empty.
func table(rows [][]string) *renderv1.RenderTree {
	t := &renderv1.TableNode{Headers: []string{"", ""}}
	for _, cells := range rows {
		if cells[1] != "" {
			t.Rows = append(t.Rows, &renderv1.TableRow{Cells: cells})
		}
	}
	return &renderv1.RenderTree{Root: &renderv1.RenderNode{Node: &renderv1.RenderNode_Table{Table: t}}}
}

func code(language, content string) *renderv1.RenderTree {
	return &renderv1.RenderTree{Root: &renderv1.RenderNode{Node: &renderv1.RenderNode_CodeBlock{
		CodeBlock: &renderv1.CodeBlockNode{Language: &language, Content: content}}}}
}

func text(content string) *renderv1.RenderTree {
	return &renderv1.RenderTree{Root: &renderv1.RenderNode{Node: &renderv1.RenderNode_Text{
		Text: &renderv1.TextNode{Content: content}}}}
}

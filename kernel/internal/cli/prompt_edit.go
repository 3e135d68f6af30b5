package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/term"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	posix "mvdan.cc/sh/v3/shell"

	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/lineedit"
	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/agentco/agent/kernel/internal/schema"
)

// edit lets a person change the arguments of an item, in an editor or, where there is none, on a line. It returns nil when
// they are as they were or are no arguments at all, which has been said then.
func (p *prompt) edit(ctx context.Context, q gate.Question) (*structpb.Struct, error) {
	text, drafted := p.drafts[q.GetCallId()]
	if !drafted {
		var err error
		if text, err = argumentsText(q.GetInput()); err != nil {
			return nil, p.complain(err)
		}
	}
	edited, err := p.change(ctx, text)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, p.complain(err)
	}
	if p.drafts == nil {
		p.drafts = map[string][]byte{}
	}
	p.drafts[q.GetCallId()] = edited
	args, err := readArguments(edited)
	switch {
	case err != nil:
		return nil, p.complain(err)
	case proto.Equal(args, q.GetInput()):
		p.display.Note(p.display.ErrPainter().Dim("the arguments are as they were"))
		return nil, nil
	default:
		return args, nil
	}
}

// complain shows what is the matter, after which the question stands as it was.
func (p *prompt) complain(err error) error {
	p.display.Note(p.display.ErrPainter().Error("error: ") + paint.Text(err.Error()))
	return nil
}

// argumentsText is arguments as a person edits them.
func argumentsText(args *structpb.Struct) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(args.AsMap())
	return b.Bytes(), err
}

// ofProto is what an error of protojson says about whose syntax it is.
var ofProto = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^proto:[\s\x{a0}]*`) })

func readArguments(text []byte) (*structpb.Struct, error) {
	args := &structpb.Struct{}
	if err := args.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("that is not a JSON object: %s", ofProto().ReplaceAllString(err.Error(), ""))
	}
	return args, schema.CheckNumbers(text)
}

// change has a text changed.
func (p *prompt) change(ctx context.Context, text []byte) ([]byte, error) {
	if words := editor(); words != nil {
		return p.inEditor(ctx, words, text)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		line.Reset()
		line.Write(bytes.ReplaceAll(bytes.TrimSpace(text), []byte("\n"), []byte(" ")))
	}
	if p.display.err.live {
		return p.onLine(ctx, line.String())
	}
	p.display.Note(paint.Line(line.String()))
	answer, err := p.line(ctx, "Arguments as JSON (Enter leaves them): ")
	if err != nil || answer == "" {
		return text, err
	}
	return []byte(answer), nil
}

// onLine has a text changed where it stands. A line that is given up, or left empty, leaves it as it was.
func (p *prompt) onLine(ctx context.Context, text string) ([]byte, error) {
	p.terminal.forget()
	p.display.Note(p.display.ErrPainter().Dim("there is no editor, which EDITOR would name: change the JSON here, Ctrl-C leaves it"))
	editor := lineedit.New(p.terminal.in, os.Stderr)
	editor.Color = p.display.err.colour
	defer editor.Close()
	p.display.WriteAbove(editor.Interject)
	defer p.display.WriteAbove(nil)
	answer, err := editor.Edit(ctx, "Arguments: ", text)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil || strings.TrimSpace(answer) == "":
		return []byte(text), nil
	default:
		return []byte(answer), nil
	}
}

// editor is the command that edits a file: $VISUAL, $EDITOR, else vi. A terminal that can do nothing has none but
// $EDITOR, which may be one for it.
func editor() []string {
	choices := []string{os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi"}
	if os.Getenv("TERM") == "dumb" {
		choices = choices[1:2]
	}
	for _, choice := range choices {
		words, err := posix.Fields(choice, nil)
		if err != nil || len(words) == 0 {
			continue
		}
		if _, err := exec.LookPath(words[0]); err == nil || choice != "vi" {
			return words
		}
	}
	return nil
}

// inEditor has a text changed in an editor, which has the terminal for itself.
func (p *prompt) inEditor(ctx context.Context, words []string, text []byte) (edited []byte, err error) {
	f, err := os.CreateTemp("", "agent-arguments-*.json")
	if err != nil {
		return nil, fmt.Errorf("cannot write the arguments for the editor: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("cannot write the arguments for the editor: %w", err)
	}
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], f.Name())...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.terminal.in, os.Stderr, os.Stderr
	// A terminal of its own: ours can be left in the middle of a read, which an editor would not understand.
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
		defer tty.Close()
		cmd.Stdin = tty
		if state, err := term.GetState(int(tty.Fd())); err == nil {
			defer func() { _ = term.Restore(int(tty.Fd()), state) }() // an editor that was killed has not
		}
	}
	err = p.lend(cmd.Run)
	if err != nil {
		return nil, fmt.Errorf("the editor %s failed, nothing is changed: %w", words[0], err)
	}
	return os.ReadFile(f.Name())
}

// lend leaves the terminal to another program, and Ctrl-C with it: that is a key of an editor, or ends what the editor
// does, and is not for the call.
func (p *prompt) lend(run func() error) error {
	defer p.kill.lend()()
	defer p.display.Lend()()
	defer p.terminal.show()()
	return run()
}

package export

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/agentco/agent/kernel/internal/session"
	"github.com/agentco/agent/kernel/internal/session/history"
	"google.golang.org/protobuf/types/known/structpb"
	"mvdan.cc/sh/v3/syntax"
)

// castHeader is the first line of an asciicast, version 2.
type castHeader struct {
	Version   int    `json:"version"`
	Width     int    `json:"width"`
	Height    int    `json:"height"`
	Timestamp int64  `json:"timestamp"`
	Title     string `json:"title"`
}

// moments of a cast: what appears on the screen, and when.
type castMoment struct {
	at   time.Time
	text string
}

const (
	castWidth  = 100
	castHeight = 30
)

// Cast writes a session as an asciicast for `asciinema play`: what its calls printed, when they did, between the lines that
// say which call began and how it ended. What calls print has no power over the terminal it is played on but to colour.
func Cast(ctx context.Context, f *session.File, to io.Writer) error {
	calls, err := history.Calls(ctx, f)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(to)
	lines := json.NewEncoder(b)
	lines.SetEscapeHTML(false)
	m := f.Meta()
	header := castHeader{Version: 2, Width: castWidth, Height: castHeight, Timestamp: m.Started.Unix(), Title: strings.TrimSpace("agent " + m.Command)}
	if err := lines.Encode(header); err != nil {
		return err
	}
	moments, err := screen(ctx, f, calls)
	if err != nil {
		return err
	}
	// A clock that was set back must not make a player wait for ever.
	var last float64
	for _, moment := range moments {
		last = max(last, moment.at.Sub(m.Started).Seconds())
		shown := strings.ReplaceAll(moment.text, "\n", "\r\n")
		if err := lines.Encode([]any{last, "o", shown}); err != nil {
			return err
		}
	}
	return b.Flush()
}

// screen is all that appears, in the order of its time.
func screen(ctx context.Context, f *session.File, calls []*history.Call) (all []castMoment, err error) {
	p := paint.Painter{Format: paint.Terminal}
	for _, c := range calls {
		all = append(all, castMoment{c.Began, p.Bold("$ "+commandLine(c)) + "\n"})
		painter := paint.Output{Live: true, Color: true}
		end := c.Began
		for o, err := range f.Output(ctx, c.ID) {
			if err != nil {
				return nil, err
			}
			end = o.Time
			if o.Skipped > 0 {
				all = append(all, castMoment{o.Time, painter.Break() + p.Dim(strings.TrimSuffix(missing(o.Skipped), "\n")) + "\n"})
				continue
			}
			all = append(all, castMoment{o.Time, painter.Chunk(streamOf(o), o.Data)})
		}
		if !c.Ended.IsZero() {
			end = c.Ended
		}
		all = append(all, castMoment{end, painter.End() + ending(p, c) + "\n"})
	}
	slices.SortStableFunc(all, func(a, b castMoment) int { return a.at.Compare(b.at) })
	return slices.DeleteFunc(all, func(m castMoment) bool { return m.text == "" }), nil
}

// commandLine is the call as it would be typed in a shell, with the arguments that it ran with.
func commandLine(c *history.Call) string {
	text := "agent invoke "
	if strings.HasPrefix(c.String(), "/") {
		text = "agent run "
	}
	text += c.String()
	if arguments := c.Arguments(); len(arguments.GetFields()) > 0 {
		text += " --args " + quoted(arguments)
	}
	return paint.Line(text)
}

// quoted is a value as JSON, as one word for a shell.
func quoted(s *structpb.Struct) string {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s.AsMap()); err != nil { // infinity and its like have no place in JSON
		line.Reset()
		line.WriteString(s.String())
	}
	word := strings.TrimSuffix(line.String(), "\n")
	word, _ = syntax.Quote(word, syntax.LangBash) // only a NUL cannot be quoted, and JSON has none
	return word
}

func ending(p paint.Painter, c *history.Call) string {
	switch {
	case c.Error != nil:
		return p.Error(c.Status+": ") + paint.Text(c.Error.GetMessage())
	case c.Status == history.Completed:
		return p.Dim(c.Status)
	default:
		return p.Warning(c.Status)
	}
}

package main

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/session"
	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/oklog/ulid/v2"
)

// starts opens engines of their own, each until all its providers are ready: those of the project when there are as many
// as asked for, else the first of them under so many names.
func (b *bench) starts(ctx context.Context, r request) (took []float64, err error) {
	o := b.options
	if r.Start != len(o.Providers) {
		first := o.Providers[0]
		o.Providers = nil
		for i := range r.Start {
			first.Name = "copy" + strconv.Itoa(i)
			o.Providers = append(o.Providers, first)
		}
		o.Policies, o.Catalogue = nil, nil
	}
	for range max(1, r.N) {
		begun := time.Now()
		e, err := engine.Open(ctx, o)
		took = append(took, milliseconds(time.Since(begun)))
		if e != nil {
			e.Close()
		}
		if err != nil {
			return took, err
		}
	}
	return took, nil
}

// log writes a session of so many events, and then times N more, each until it is safe.
func (b *bench) log(ctx context.Context, r request) (took []float64, path string, err error) {
	l, err := session.NewLog(b.folder, session.Meta{ID: ulid.Make().String(), Command: "bench", Project: b.options.ProjectRoot}, nil)
	if err != nil {
		return nil, "", err
	}
	var last *session.Receipt
	for i := range r.Log {
		last = l.Append(entry(i))
	}
	if _, err = last.Wait(ctx); err != nil {
		return nil, "", err
	}
	for i := range max(1, r.N) {
		begun := time.Now()
		if _, err = l.Append(entry(r.Log + i)).Wait(ctx); err != nil {
			return took, "", err
		}
		took = append(took, milliseconds(time.Since(begun)))
	}
	return took, l.Path(), l.Close(session.Completed)
}

// entry is one half of a call: by turns what was asked, and how it ended.
func entry(i int) session.Entry {
	id := "call-" + strconv.Itoa(i/2)
	e := session.Entry{Kind: session.ToolCall, Producer: session.Producer{Category: "tool", Name: "filesystem", Version: "1.0.0"}, CallID: id}
	var m proto.Message = &eventv1.ToolCallEvent{Call: &toolv1.ToolCall{Id: id, ToolName: "read_file"}}
	if i%2 == 1 {
		e.Kind = session.ToolResult
		m = &eventv1.ToolResultEvent{ToolCallId: id, Outcome: &eventv1.ToolResultEvent_Result{Result: &toolv1.ToolResult{}}}
	}
	e.Payload, _ = proto.Marshal(m)
	return e
}

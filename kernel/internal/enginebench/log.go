package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/session"
	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// steady is how many bytes are in a log before its calls are timed: more than may be in the tail and not in the database,
// so that from then on the database has to keep up.
const steady = 6 << 20

// logged writes the entries of calls to a log of its own, which is removed, and times each as the engine waits for them.
// Nothing is encoded in that time. The processor time is all that the log uses for a call, until the database has it.
func (b *bench) logged(ctx context.Context, r request, a *answer) error {
	p, err := prepared(r)
	if err != nil {
		return err
	}
	used := processorTime()
	l, err := session.NewLog(b.folder, session.Meta{ID: ulid.Make().String(), Command: "bench"}, nil)
	if err != nil {
		return err
	}
	var before answer
	warm := request{N: min(3000, steady/len(p.end[0].Payload)), Workers: r.Workers, LimitMS: r.LimitMS / 2}
	err = p.repeat(ctx, l, warm, &before)
	if err == nil {
		err = p.repeat(ctx, l, r, a)
	}
	if err = errors.Join(err, l.Close(session.Completed)); err == nil {
		a.CPUMS = milliseconds(processorTime()-used) / float64(len(before.TookMS)+len(a.TookMS))
	}
	return errors.Join(err, os.Remove(l.Path()))
}

// entries are those of one call: when it begins, and when it ends.
type entries struct {
	begin, end []session.Entry
	result     *structpb.Struct
	// safe says that nothing of a call is done before its beginning is in the log.
	safe bool
}

// prepared makes the entries of a call whose result is so many bytes of text. A change is planned and applied, too.
func prepared(r request) (entries, error) {
	var of struct{ Bytes int }
	if err := json.Unmarshal(r.Arguments, &of); err != nil || of.Bytes < 0 {
		return entries{}, errors.Join(errors.New("the arguments are the bytes of a result"), err)
	}
	p := entries{safe: r.Operation == "change"}
	if !p.safe && r.Operation != "read" {
		return p, fmt.Errorf("there is no operation %q of a log: read, change", r.Operation)
	}
	text := strings.Repeat("a line of sixteen\n", of.Bytes/18+1)[:of.Bytes]
	p.result = &structpb.Struct{Fields: map[string]*structpb.Value{"content": structpb.NewStringValue(text)}}
	path := &structpb.Struct{Fields: map[string]*structpb.Value{"path": structpb.NewStringValue("files/some.txt")}}
	called, err := proto.Marshal(&eventv1.ToolCallEvent{Call: &toolv1.ToolCall{Id: "call", ToolName: "read_file", Arguments: path}})
	if err != nil {
		return p, err
	}
	ended, err := proto.Marshal(&eventv1.ToolResultEvent{ToolCallId: "call", Outcome: &eventv1.ToolResultEvent_Result{Result: &toolv1.ToolResult{Payload: p.result}}})
	if err != nil {
		return p, err
	}
	tool := session.Producer{Category: "tool", Name: "filesystem", Version: "1.0.0"}
	p.begin = []session.Entry{{Kind: session.ToolCall, Producer: tool, Payload: called}}
	p.end = []session.Entry{{Kind: session.ToolResult, Producer: tool, Payload: ended}}
	if p.safe {
		kernel := session.Producer{Category: "kernel", Name: "agent", Version: "1.0.0"}
		p.begin = append(p.begin, session.Entry{Kind: session.Plan, Producer: kernel, Payload: called,
			Items: []session.PlanItem{{TurnID: "turn", Provider: "filesystem", Tool: "edit_file", Decision: "approved", DecidedBy: "policy"}}})
		p.end = append(p.end, session.Entry{Kind: session.Apply, Producer: kernel, Payload: called})
	}
	return p, nil
}

func (p entries) repeat(ctx context.Context, l *session.Log, r request, a *answer) error {
	return r.repeat(a, func(i int) (call, error) {
		begun := time.Now()
		err := p.write(ctx, l, fmt.Sprint("call-", i))
		return call{took: time.Since(begun), result: p.result}, err
	})
}

// write writes the entries of one call, as the journal of an engine does.
func (p entries) write(ctx context.Context, l *session.Log, id string) error {
	begun := appended(l, p.begin, id)
	if p.safe {
		if err := kept(ctx, begun); err != nil {
			return err
		}
	}
	return kept(ctx, appended(l, p.end, id))
}

func appended(l *session.Log, all []session.Entry, id string) (receipts []*session.Receipt) {
	for _, e := range all {
		e.CallID = id
		receipts = append(receipts, l.Append(e))
	}
	return receipts
}

func kept(ctx context.Context, receipts []*session.Receipt) error {
	for _, r := range receipts {
		if _, err := r.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

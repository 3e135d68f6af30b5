// Package export writes sessions in formats that others read. It needs no provider, and asks none.
package export

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"time"

	"github.com/agentco/agent/kernel/internal/session"
	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Session is how a session is described in JSON.
type Session struct {
	ID      string         `json:"session_id"`
	Parent  string         `json:"parent_session_id,omitempty"`
	Profile string         `json:"profile,omitempty"`
	Status  session.Status `json:"status"`
	Depth   int            `json:"depth"`
	Started time.Time      `json:"started_at"`
	Ended   *time.Time     `json:"ended_at,omitempty"`
	Command string         `json:"command,omitempty"`
	Project string         `json:"project,omitempty"`
}

// Of describes a session.
func Of(m session.Meta) Session {
	s := Session{
		ID: m.ID, Parent: m.Parent, Profile: m.Profile, Status: m.Status, Depth: m.Depth, Started: m.Started,
		Command: m.Command, Project: m.Project,
	}
	if !m.Ended.IsZero() {
		s.Ended = &m.Ended
	}
	return s
}

// Event is how an event is described in JSON.
type Event struct {
	Sequence      int64        `json:"sequence"`
	ID            string       `json:"id"`
	Timestamp     time.Time    `json:"timestamp"`
	Kind          session.Kind `json:"kind"`
	Producer      Producer     `json:"producer"`
	SchemaVersion string       `json:"schema_version"`
	// Payload is the message of event.v1 in protojson; Raw has what is none.
	Payload json.RawMessage `json:"payload,omitempty"`
	Raw     []byte          `json:"payload_base64,omitempty"`
	Hash    string          `json:"hash"`
}

// Producer is who an event comes from.
type Producer struct {
	Category string `json:"category"`
	Name     string `json:"name"`
	Version  string `json:"version,omitempty"`
}

// Output is how output is described in JSON.
type Output struct {
	CallID    string    `json:"call_id"`
	Timestamp time.Time `json:"timestamp"`
	Stream    string    `json:"stream,omitempty"`
	Data      []byte    `json:"data,omitempty"`
	Skipped   int64     `json:"skipped,omitempty"`
}

// JSONLines writes a line {"session": …}, then a line {"event": …} for each event, in their order. What a call has printed
// stands before its result, as lines {"output": …}.
func JSONLines(ctx context.Context, f *session.File, to io.Writer) error {
	b := bufio.NewWriter(to)
	lines := json.NewEncoder(b)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(map[string]any{"session": Of(f.Meta())}); err != nil {
		return err
	}
	unfinished := map[string]bool{}
	for e, err := range f.Events(ctx) {
		if err != nil {
			return err
		}
		switch id := callID(e); e.Kind {
		case session.ToolCall:
			unfinished[id] = true
		case session.ToolResult:
			delete(unfinished, id)
			if err := output(ctx, f, id, lines); err != nil {
				return err
			}
		}
		if err := lines.Encode(map[string]any{"event": EventOf(e)}); err != nil {
			return err
		}
	}
	for id := range unfinished {
		if err := output(ctx, f, id, lines); err != nil {
			return err
		}
	}
	return b.Flush()
}

func output(ctx context.Context, f *session.File, id string, lines *json.Encoder) error {
	for o, err := range f.Output(ctx, id) {
		if err != nil {
			return err
		}
		if err := lines.Encode(map[string]any{"output": Output{o.CallID, o.Time, o.Stream, o.Data, o.Skipped}}); err != nil {
			return err
		}
	}
	return nil
}

// EventOf describes an event.
func EventOf(e session.Event) Event {
	out := Event{
		Sequence: e.Sequence, ID: e.ID, Timestamp: e.Time, Kind: e.Kind, SchemaVersion: e.SchemaVersion, Hash: hex.EncodeToString(e.Hash),
		Producer: Producer{e.Producer.Category, e.Producer.Name, e.Producer.Version},
	}
	if m := message(e.Kind); m != nil && proto.Unmarshal(e.Payload, m) == nil {
		if text, err := (protojson.MarshalOptions{UseProtoNames: true}).Marshal(m); err == nil {
			out.Payload = text
			return out
		}
	}
	out.Raw = e.Payload
	return out
}

// message is an empty payload of a kind; nil for one that this kernel does not write.
func message(k session.Kind) proto.Message {
	switch k {
	case session.ToolCall:
		return &eventv1.ToolCallEvent{}
	case session.ToolResult:
		return &eventv1.ToolResultEvent{}
	case session.Plan:
		return &eventv1.PlanEvent{}
	case session.Apply:
		return &eventv1.ApplyEvent{}
	default:
		return nil
	}
}

// callID is the call that a tool_call or a tool_result is about.
func callID(e session.Event) string {
	switch m := message(e.Kind).(type) {
	case *eventv1.ToolCallEvent:
		_ = proto.Unmarshal(e.Payload, m)
		return m.GetCall().GetId()
	case *eventv1.ToolResultEvent:
		_ = proto.Unmarshal(e.Payload, m)
		return m.GetToolCallId()
	default:
		return ""
	}
}

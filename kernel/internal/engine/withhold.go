package engine

import (
	"github.com/agentco/agent/kernel/internal/host"
	"github.com/agentco/agent/kernel/internal/secret"
	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// withhold learns the secrets of a configuration before the provider does: whatever comes back from it is without them.
func (e *Engine) withhold(config func(*configv1.ConfigSchema) (*structpb.Struct, error)) func(*configv1.ConfigSchema) (*structpb.Struct, error) {
	if config == nil {
		return nil
	}
	return func(schema *configv1.ConfigSchema) (*structpb.Struct, error) {
		c, err := config(schema)
		e.secrets.Hide(secret.Of(schema.GetAttributes(), c)...)
		return c, err
	}
}

// withheld passes on the events of one call without secrets, however its output is cut.
type withheld struct {
	set    *secret.Set
	show   func(*toolv1.ToolEvent)
	output map[toolv1.OutputStream]*secret.Stream
}

func (w *withheld) event(event *toolv1.ToolEvent) {
	chunk := event.GetOutputChunk()
	if chunk == nil {
		w.show(secret.Clean(w.set, event))
		return
	}
	stream := w.output[chunk.GetStream()]
	if stream == nil {
		stream = &secret.Stream{Set: w.set}
		if w.output == nil {
			w.output = map[toolv1.OutputStream]*secret.Stream{}
		}
		w.output[chunk.GetStream()] = stream
	}
	if data := stream.Next(chunk.GetData()); len(data) > 0 || len(chunk.GetData()) == 0 {
		w.show(printed(chunk.GetStream(), data))
	}
}

// end shows what was held back and was no secret.
func (w *withheld) end() {
	for _, id := range []toolv1.OutputStream{toolv1.OutputStream_OUTPUT_STREAM_STDOUT, toolv1.OutputStream_OUTPUT_STREAM_STDERR} {
		if stream := w.output[id]; stream != nil {
			if rest := stream.Rest(); len(rest) > 0 {
				w.show(printed(id, rest))
			}
		}
	}
}

func printed(stream toolv1.OutputStream, data []byte) *toolv1.ToolEvent {
	return &toolv1.ToolEvent{Event: &toolv1.ToolEvent_OutputChunk_{OutputChunk: &toolv1.ToolEvent_OutputChunk{Stream: stream, Data: data}}}
}

// withoutSecrets is a reply as it may be known.
func withoutSecrets(set *secret.Set, r host.Reply) host.Reply {
	if clean := secret.Clean(set, r.Payload); clean != r.Payload {
		r.Payload, r.Encoded = clean, ""
	}
	r.Error = secret.Clean(set, r.Error)
	r.ExitStatus, r.Rendering = secret.Clean(set, r.ExitStatus), secret.Clean(set, r.Rendering)
	if r.Report != nil {
		r.Report = &Report{ID: r.Report.ID, Note: set.Text(r.Report.Note), Partial: secret.Clean(set, r.Report.Partial), Output: set.Bytes(r.Report.Output)}
	}
	return r
}

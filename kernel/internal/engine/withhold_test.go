package engine

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/host/hosttest"
	"github.com/agentco/agent/kernel/internal/secret"
	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// K27: what a provider gives away of its configuration reaches nobody: not an event, an outcome, or the log.
func TestSecretsAreWithheld(t *testing.T) {
	const token = `s3cr3t-"abc"/d+e`
	for _, how := range []string{"result", "error", "panic", "cancelled"} {
		t.Run(how, func(t *testing.T) {
			var log lockedBuffer
			secrets := &secret.Set{}
			spec := fixture("fixture", hosttest.Good)
			spec.Config = func(*configv1.ConfigSchema) (*structpb.Struct, error) {
				return structpb.NewStruct(map[string]any{"token": token})
			}
			session := open(t, Options{Providers: []ProviderSpec{spec}, Secrets: secrets,
				Log: slog.New(secret.Handler{Set: secrets, To: slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})})})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var seen, output bytes.Buffer
			o := session.Invoke(ctx, request(t, session, "leak", map[string]any{"how": how}), func(e *toolv1.ToolEvent) {
				text, err := protojson.Marshal(e)
				require.NoError(t, err)
				seen.Write(text)
				if chunk := e.GetOutputChunk(); chunk != nil {
					output.Write(chunk.GetData())
					if how == "cancelled" && bytes.Contains(chunk.GetData(), []byte("end")) {
						cancel()
					}
				}
			})
			session.engine.Close()
			if o.Report != nil {
				seen.WriteString(o.Report.Note + string(o.Report.Output) + o.Report.Partial.String())
			}
			all := seen.String() + output.String() + o.Result.String() + o.Error.String() + fmt.Sprint(o.DecidedBy) + log.String()
			require.NotContains(t, all, "s3cr3t")
			require.NotContains(t, all, "czNjcjN0", "in base64")
			if how != "panic" { // which may be faster than what was printed before
				require.Contains(t, output.String(), "begin ******** end", "what is no secret comes through")
			}
			require.Contains(t, log.String(), "printed: ********")
		})
	}
}

// K27: arguments are in the log before their provider is started.
func TestSecretsAreKnownBeforeTheStart(t *testing.T) {
	const token = "s3cr3t-abc"
	provider := newScript(t)
	provider.spec.Config = func(*configv1.ConfigSchema) (*structpb.Struct, error) {
		return structpb.NewStruct(map[string]any{"token": token})
	}
	c := known(t, provider)
	secrets := &secret.Set{}
	open(t, Options{Providers: []ProviderSpec{provider.spec}, Catalogue: c, Lazy: true, Secrets: secrets})
	require.Equal(t, 1, provider.starts())
	require.Equal(t, "with ********", secrets.Text("with "+token))
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

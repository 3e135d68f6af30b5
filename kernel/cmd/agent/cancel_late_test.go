package main

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/host"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// Whenever the call of a real provider is cancelled, it has ended or there is a report of it: nobody waits for one that
// does not come, and nothing that was done goes by as unknown.
func TestCancelAroundTheEndOfCalls(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "long.txt"), []byte(strings.Repeat("a line of the file\n", 1000)), 0o600))
	configured, err := structpb.NewStruct(map[string]any{"allowed_roots": []any{dir}})
	require.NoError(t, err)
	p, err := host.Start(t.Context(), host.Spec{
		Name: "filesystem", Path: filepath.Join(binaries, "provider-filesystem"), Dir: dir,
	}, func(*configv1.ConfigSchema) (*structpb.Struct, error) { return configured, nil })
	require.NoError(t, err)
	t.Cleanup(p.Close)
	call := host.Call{Context: &commonv1.CallContext{WorkingDirectory: dir}}
	call.Arguments, err = structpb.NewStruct(map[string]any{"path": "long.txt"})
	require.NoError(t, err)
	for _, op := range p.Operations() {
		if op.Name == "read_file" {
			call.Operation = op
		}
	}
	invoke := func(ctx context.Context) host.Reply {
		call.ID = ulid.Make().String()
		return p.Invoke(ctx, call, func(*toolv1.ToolEvent) {})
	}
	reply := invoke(t.Context())
	require.Equal(t, host.Completed, reply.Ending, reply.Error)
	begin := time.Now()
	reply = invoke(t.Context())
	require.Equal(t, host.Completed, reply.Ending, reply.Error)
	whole := 2 * time.Since(begin) // so that the moments lie around the end
	endings := map[string]int{}
	for range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		timer := time.AfterFunc(rand.N(whole), cancel)
		reply = invoke(ctx)
		switch reply.Ending {
		case host.Completed:
			endings["completed"]++
		case host.Cancelled:
			if reply.Report == nil { // the provider has not heard of it
				require.Contains(t, reply.Error.GetMessage(), "before it began; nothing was done")
				endings["not begun"]++
				break
			}
			endings[reply.Report.Note]++
		default:
			require.Fail(t, "neither completed nor cancelled", "%v", reply.Error)
		}
		timer.Stop()
		cancel()
	}
	t.Log(endings)
}

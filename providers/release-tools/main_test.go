package main

import (
	"context"
	"errors"
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/agentco/agent/sdk/sdktest"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start runs the provider for one repository.
func start(t *testing.T, r *gittest.Repo, cfg map[string]any) *sdktest.Harness {
	t.Helper()
	h := sdktest.Start(t, provider(), cfg)
	h.Dir = r.Dir
	return h
}

// run is a call that must succeed.
func run(t *testing.T, h *sdktest.Harness, name string, args map[string]any) *sdktest.Result {
	t.Helper()
	res := h.Call(t.Context(), name, args)
	require.Nil(t, res.Err)
	require.NoError(t, res.Status)
	return res
}

// refuse is a call that must fail with that kind and leave every byte of the repository alone.
func refuse(t *testing.T, r *gittest.Repo, cfg, args map[string]any, kind string) string {
	t.Helper()
	h := start(t, r, cfg)
	before := r.Snapshot()
	res := h.Call(context.WithoutCancel(t.Context()), "release", args)
	require.NotNil(t, res.Err, "released: %v", res.Result)
	require.Equal(t, kind, res.Err.GetDetails().AsMap()["kind"], res.Err.GetMessage())
	require.Regexp(t, `^$|(Removed tag|Took back the commit of) \S+\n$`, res.Stdout, "the last word sounds like success")
	require.Equal(t, before, r.Snapshot())
	return res.Err.GetMessage()
}

func configure(t *testing.T, cfg map[string]any) error {
	t.Helper()
	err := sdktest.Configure(t, provider(), cfg)
	if e := sdktest.ToolError(err); e != nil {
		return errors.New(e.GetMessage())
	}
	return err
}

// kind is that of the refusal of a call that must fail.
func kind(t *testing.T, h *sdktest.Harness, name string, args map[string]any) any {
	t.Helper()
	res := h.Call(t.Context(), name, args)
	require.NotNil(t, res.Err, "went through: %v", res.Result)
	return res.Err.GetDetails().AsMap()["kind"]
}

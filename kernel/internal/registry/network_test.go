package registry_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/registry"
	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

func TestServerThatFailsForAWhile(t *testing.T) {
	tests := []struct {
		name string
		how  registrytest.Fault
	}{
		{"503", registrytest.Status(503)},
		{"502", registrytest.Status(502)},
		{"connection refused", registrytest.Refuse},
		{"cut in the middle", registrytest.Cut(100)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			onEach(t, func(t *testing.T, n *registrytest.Net, f *registrytest.Forge, source, _ string) {
				f.Publish(repo, built("1.0.0"))
				n.Break(f.API, "releases", 3, tt.how)
				n.Break(f.Storage, "checksums", 2, tt.how)
				r, err := client(t, n, registry.Options{}).Resolve(t.Context(), query(t, source, ""))
				require.NoError(t, err)
				require.Equal(t, "1.0.0", r.Version)
			})
		})
	}
}

func TestServerThatFailsForGood(t *testing.T) {
	tests := []struct {
		name string
		how  registrytest.Fault
		code registry.Code
		// attempts: who keeps one waiting is not waited for again and again
		attempts int
		stall    time.Duration
	}{
		{"500", registrytest.Status(500), registry.ServerFailed, 4, 0},
		{"connection refused", registrytest.Refuse, registry.Unreachable, 4, 0},
		{"cut in the middle", registrytest.Cut(100), registry.Unreachable, 4, 0},
		{"silent", registrytest.Hang, registry.Unreachable, 1, 50 * time.Millisecond},
		{"silent in the middle", registrytest.Stall(100), registry.Unreachable, 4, 400 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := registrytest.New(t)
			f := n.GitHub("github.com")
			f.Publish(repo, built("1.0.0"))
			n.Break(f.API, "", -1, tt.how)
			var err error
			patiently(t, tt.stall, func(patience time.Duration) bool {
				n.Forget()
				_, err = client(t, n, registry.Options{StallTimeout: patience}).Resolve(t.Context(), query(t, "github.com/"+repo, ""))
				return tt.stall == 0 || len(n.Requests()) == tt.attempts
			})
			requireCode(t, err, tt.code)
			require.ErrorContains(t, err, "cannot list the releases of github.com/agentco/provider-x (https://api.github.com/repos/agentco/provider-x/releases)")
			require.Len(t, n.Requests(), tt.attempts)
		})
	}
}

// 501 is not a hiccup, and neither is a bad certificate.
func TestWhatIsNotTriedAgain(t *testing.T) {
	n := registrytest.New(t)
	n.GitHub("github.com")
	n.Break("api.github.com", "", -1, registrytest.Status(501))
	_, err := client(t, n, registry.Options{}).Resolve(t.Context(), query(t, "github.com/"+repo, ""))
	requireCode(t, err, registry.ServerFailed)
	require.Len(t, n.Requests(), 1)

	n.Repair()
	n.Forget()
	c := client(t, n, registry.Options{Transport: n.Distrustful()}, "GITHUB_TOKEN="+token)
	_, err = c.Resolve(t.Context(), query(t, "github.com/"+repo, ""))
	requireCode(t, err, registry.Unreachable)
	require.ErrorContains(t, err, "The certificate is not one that this machine trusts")
	require.Empty(t, n.Requests())
}

// What never falls silent and never ends is given up, too.
func TestServerThatTrickles(t *testing.T) {
	t.Parallel()
	n := registrytest.New(t)
	n.GitHub("github.com")
	n.Break("api.github.com", "", -1, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		pace := time.NewTicker(time.Millisecond)
		defer pace.Stop()
		for r.Context().Err() == nil {
			_, _ = w.Write(bytes.Repeat([]byte(" "), 8<<10))
			_ = http.NewResponseController(w).Flush()
			<-pace.C
		}
	})
	patiently(t, 400*time.Millisecond, func(patience time.Duration) bool {
		n.Forget()
		_, err := client(t, n, registry.Options{StallTimeout: patience}).Resolve(t.Context(), query(t, "github.com/"+repo, ""))
		requireCode(t, err, registry.Unreachable)
		return strings.Contains(err.Error(), "it took longer than "+(4*patience).String()) && len(n.Requests()) == 1
	})
}

func TestNoNetwork(t *testing.T) {
	n := registrytest.New(t)
	_, err := client(t, n, registry.Options{}).Resolve(t.Context(), query(t, "127.0.0.1:1/"+repo, ""))
	requireCode(t, err, registry.Unreachable)
	require.ErrorContains(t, err, "connection refused")
	require.ErrorContains(t, err, "Check the network")
}

func TestCancel(t *testing.T) {
	n := registrytest.New(t)
	f := n.GitHub("github.com")
	f.Publish(repo, built("1.0.0"))
	ctx, cancel := context.WithCancel(t.Context())
	n.Break(f.API, "", -1, func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		cancel()
		<-r.Context().Done()
	})
	_, err := client(t, n, registry.Options{}).Resolve(ctx, query(t, "github.com/"+repo, ""))
	requireCode(t, err, registry.Cancelled)
	require.ErrorIs(t, err, context.Canceled)

	n.Repair()
	ctx, cancel = context.WithCancel(t.Context())
	n.Break(f.API, "", -1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		defer cancel()
		registrytest.Status(500)(w, r, next)
	})
	slow := registry.New(registry.Options{Transport: n.Transport(), RetryDelay: time.Hour})
	defer slow.Close()
	_, err = slow.Resolve(ctx, query(t, "github.com/"+repo, ""))
	requireCode(t, err, registry.Cancelled)
	require.ErrorIs(t, err, context.Canceled, "the pause between attempts ends, too")
}

//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/providers/bash/internal/terminal"
	"github.com/agentco/agent/sdk/sdktest"
)

// The benchmarks come in pairs: what a call costs, and what the bare work costs in the
// same run. Only the ratio means anything.

// flooding prints so many bytes and returns how many.
func flooding() (command string, size int) {
	size = *flood << 20
	return fmt.Sprintf("yes | head -c %d", size), size
}

// bare runs a command on two streams as simply as it can be done.
func bare(b *testing.B, open func() (terminal.Stream, error), command string, see func([]byte)) {
	b.Helper()
	out, err := open()
	require.NoError(b, err)
	stderr, err := open()
	require.NoError(b, err)
	cmd := exec.Command("bash", "-c", command)
	cmd.Stdout, cmd.Stderr = out.Writer, stderr.Writer
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	require.NoError(b, cmd.Start())
	require.NoError(b, out.Writer.Close())
	require.NoError(b, stderr.Writer.Close())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, stderr.Reader)
	}()
	buffer := make([]byte, 32<<10)
	for {
		n, err := out.Reader.Read(buffer)
		see(buffer[:n])
		if err != nil {
			break
		}
	}
	<-ended
	_ = cmd.Wait()
	_, _ = out.Reader.Close(), stderr.Reader.Close()
}

func rawTerminal() (terminal.Stream, error) {
	return terminal.Open(terminal.Size{Columns: 120, Rows: 40})
}

func BenchmarkTrue(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			bare(b, rawTerminal, "true", func([]byte) {})
		}
	})
	b.Run("call", func(b *testing.B) {
		h := start(b, nil)
		for b.Loop() {
			run(b, h, "true")
		}
	})
}

func BenchmarkFirstByte(b *testing.B) {
	const command = "echo hi; sleep 0.05"
	b.Run("bare", func(b *testing.B) {
		var total time.Duration
		for b.Loop() {
			begun, first := time.Now(), time.Duration(0)
			bare(b, rawTerminal, command, func(p []byte) {
				if first == 0 {
					first = time.Since(begun)
				}
			})
			total += first
		}
		b.ReportMetric(float64(total.Microseconds())/float64(b.N)/1000, "ms-to-first-byte")
	})
	b.Run("call", func(b *testing.B) {
		h := start(b, nil)
		var total time.Duration
		for b.Loop() {
			begun, first := time.Now(), time.Duration(0)
			h.Watch(b.Context(), h.Dir, "bash", fields{"command": command}, func(e *toolv1.ToolEvent) {
				if first == 0 && e.GetOutputChunk() != nil {
					first = time.Since(begun)
				}
			})
			total += first
		}
		b.ReportMetric(float64(total.Microseconds())/float64(b.N)/1000, "ms-to-first-byte")
	})
}

// count reads a call to its end and returns how much it printed.
func count(stream toolv1.ToolService_InvokeClient) (total int) {
	for {
		response, err := stream.Recv()
		if err != nil {
			return total
		}
		total += len(response.GetEvent().GetOutputChunk().GetData())
	}
}

// BenchmarkPrint is through the binary: provider, gRPC over a socket, client. Bare work and call
// take turns, so that whatever else the machine does meets both.
func BenchmarkPrint(b *testing.B) {
	command, size := flooding()
	for _, kind := range []struct {
		name string
		open func() (terminal.Stream, error)
		pty  bool
	}{
		{"terminal", rawTerminal, true},
		{"pipe", terminal.Pipe, false},
	} {
		b.Run(kind.name, func(b *testing.B) {
			provider := launch(b, "", fields{"pty": kind.pty})
			var raw, call time.Duration
			for b.Loop() {
				begun, total := time.Now(), 0
				bare(b, kind.open, command, func(p []byte) { total += len(p) })
				raw += time.Since(begun)
				require.Equal(b, size, total)
				begun = time.Now()
				require.Equal(b, size, count(provider.invoke(b.Context(), command, nil)))
				call += time.Since(begun)
			}
			megabytes := float64(size) * float64(b.N) / 1e6
			b.ReportMetric(megabytes/raw.Seconds(), "bare-MB/s")
			b.ReportMetric(megabytes/call.Seconds(), "call-MB/s")
			b.ReportMetric(raw.Seconds()/call.Seconds(), "of-bare")
		})
	}
}

// BenchmarkCancel is the time from a cancel until nothing is left of a command. A stubborn one
// is left its grace, which is 300 ms here.
func BenchmarkCancel(b *testing.B) {
	for _, c := range []struct{ name, command string }{
		{"group", "echo up; sleep 1000"},
		{"setsid", "setsid sleep 1000 & echo up; sleep 1000"},
		{"double-fork", "(setsid sh -c 'sleep 1000 & exit' &); echo up; sleep 1000"},
		{"stubborn", "trap '' TERM; echo up; while :; do sleep 1000; done"},
	} {
		b.Run(c.name, func(b *testing.B) {
			h := start(b, fields{"kill_grace_ms": 300})
			var total, worst time.Duration
			for b.Loop() {
				took := cancelled(b, h, c.command)
				total, worst = total+took, max(worst, took)
			}
			b.ReportMetric(float64(total.Microseconds())/float64(b.N)/1000, "ms-to-nothing-left")
			b.ReportMetric(float64(worst.Microseconds())/1000, "ms-at-worst")
		})
	}
}

// cancelled runs a command that says that it is up, and returns how long its cancellation
// took until the report, which comes when nothing is left.
func cancelled(b *testing.B, h *sdktest.Harness, command string) time.Duration {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	var begun time.Time
	r := h.Watch(ctx, h.Dir, "bash", fields{"command": command}, func(e *toolv1.ToolEvent) {
		if e.GetOutputChunk() != nil {
			begun = time.Now()
			cancel()
		}
	})
	took := time.Since(begun)
	require.NotNil(b, r.Report)
	return took
}

//go:build linux

package main

import (
	"bufio"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// When the kernel is killed, nobody will end its commands but we. SO-17
func TestKilledKernelLeavesNothing(t *testing.T) {
	for _, background := range []string{"", "yes"} {
		for _, c := range runaways {
			t.Run(c.name+background, func(t *testing.T) {
				kernel := exec.Command(self(t))
				kernel.Env = append(os.Environ(), providerVariable+"="+*binaryPath, kernelVariable+"="+c.script+"sleep 1000", markVariable+"="+t.Name(),
					backgroundVariable+"="+background, "TMPDIR="+shortDir(t))
				kernel.Stderr = os.Stderr
				out, err := kernel.StdoutPipe()
				require.NoError(t, err)
				require.NoError(t, kernel.Start())
				line, err := bufio.NewReader(out).ReadString('\n')
				require.NoError(t, err)
				require.Equal(t, "up\n", line)
				require.NoError(t, kernel.Process.Kill())
				_ = kernel.Wait()
				requireNoSurvivors(t)
			})
		}
	}
}

// SO-17
func TestKilledProviderLeavesNothing(t *testing.T) {
	for _, c := range runaways {
		t.Run(c.name, func(t *testing.T) {
			b := launch(t, "", nil)
			stream := b.invoke(t.Context(), c.script+"sleep 1000", nil)
			until(t, stream, "up\n")
			require.NotEmpty(t, survivors(t))
			require.NoError(t, syscall.Kill(b.pid, syscall.SIGKILL))
			requireNoSurvivors(t)
			require.Error(t, collect(stream).err)
		})
	}
}

// SO-17
func TestBackgroundEndsWithTheProvider(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for _, c := range runaways {
			t.Run(s.String()+"/"+c.name, func(t *testing.T) {
				b := launch(t, "", fields{"kill_grace_ms": 200})
				o := collect(b.invoke(t.Context(), c.script+"sleep 300 | cat", fields{"background": true}))
				require.Contains(t, o.last().GetResult().GetPayload().AsMap(), "session_id")
				require.NotEmpty(t, survivors(t))
				require.NoError(t, syscall.Kill(b.pid, s))
				requireNoSurvivors(t)
			})
		}
	}
	t.Run("orderly end", func(t *testing.T) {
		b := launch(t, "", nil)
		collect(b.invoke(t.Context(), "trap 'touch asked; exit' TERM; sleep 300 & touch ready; wait", fields{"background": true}))
		require.Eventually(t, func() bool { _, err := os.Stat(b.root + "/ready"); return err == nil }, patience, 5*time.Millisecond)
		b.end()
		requireNoSurvivors(t)
		require.FileExists(t, b.root+"/asked")
	})
}

// SO-17: an orderly end asks first and kills what does not listen.
func TestTerminatedProviderLeavesNothing(t *testing.T) {
	for _, c := range runaways {
		t.Run(c.name, func(t *testing.T) {
			b := launch(t, "", fields{"kill_grace_ms": 200})
			until(t, b.invoke(t.Context(), c.script+"sleep 1000", nil), "up\n")
			require.NoError(t, syscall.Kill(b.pid, syscall.SIGTERM))
			requireNoSurvivors(t)
		})
	}
}

func TestNothingOfTheProviderStays(t *testing.T) {
	b := launch(t, "", nil)
	keepers := childrenOf(t, b.pid)
	require.NotEmpty(t, keepers)
	o := collect(b.invoke(t.Context(), "seq 100000", nil))
	kept := o.last().GetResult().GetPayload().AsMap()["output_path"].(string)
	info, err := os.Stat(kept)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	b.end()
	for _, keeper := range keepers {
		require.Eventually(t, func() bool { return syscall.Kill(keeper, 0) != nil }, patience, 10*time.Millisecond)
	}
	require.FileExists(t, kept, "whoever made the call can still read it")
}

// SO-36
func TestProviderStartedWithSignalsIgnored(t *testing.T) {
	b := launch(t, `trap "" HUP PIPE INT QUIT TSTP USR1 CHLD CONT;`, nil)
	o := collect(b.invoke(t.Context(), "grep -E 'SigIgn|SigBlk' /proc/self/status", nil))
	require.Equal(t, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n", ownSignals(o.stdout))
}

// A descriptor that somebody left open in the provider does not reach a command.
func TestProviderStartedWithDescriptorsOpen(t *testing.T) {
	b := launch(t, `exec 7</dev/null 9>/dev/null;`, nil)
	o := collect(b.invoke(t.Context(), "ls /proc/self/fd | tr '\n' ' '", nil))
	require.Equal(t, "0 1 2 3 ", o.stdout, "ls holds 3 itself")
}

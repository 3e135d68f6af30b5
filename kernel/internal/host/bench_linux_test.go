package host

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/keeper"
	"github.com/stretchr/testify/require"
)

// BenchmarkKeeper is what it costs to start a process under a keeper, beside the start of the same process without one, and
// what a keeper holds of memory while it waits: all of it, and what it shares with nobody.
func BenchmarkKeeper(b *testing.B) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	require.NoError(b, err)
	defer null.Close()
	b.Run("without", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, exec.Command("/bin/true").Run())
		}
	})
	b.Run("with", func(b *testing.B) {
		for b.Loop() {
			child, err := keeper.Start(keeper.Spec{Path: "/bin/true", Args: []string{"true"}, Stdout: null, Stderr: null})
			require.NoError(b, err)
			child.Exited()
			child.Wait()
		}
	})
	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
			child, err := keeper.Start(keeper.Spec{Path: "/bin/sleep", Args: []string{"sleep", "60"}, Stdout: null, Stderr: null})
			require.NoError(b, err)
			stat, err := os.ReadFile("/proc/" + strconv.Itoa(child.Pid()) + "/status")
			require.NoError(b, err)
			parent := regexp.MustCompile(`PPid:\t(\d+)`).FindSubmatch(stat)[1]
			time.Sleep(3 * time.Second) // a keeper lets go of what it does not need, once its provider has started
			rollup, err := os.ReadFile("/proc/" + string(parent) + "/smaps_rollup")
			require.NoError(b, err)
			for _, name := range []string{"Rss", "Pss", "Private_Dirty"} {
				kib, err := strconv.Atoi(string(regexp.MustCompile(name + `:\s+(\d+)`).FindSubmatch(rollup)[1]))
				require.NoError(b, err)
				b.ReportMetric(float64(kib)/1024, name+"-MiB")
			}
			child.Kill()
			child.Exited()
			child.Wait()
		}
	})
}

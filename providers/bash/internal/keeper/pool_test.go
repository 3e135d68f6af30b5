//go:build linux

package keeper

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/proto/early"
)

func TestCommandsDoNotShareAFate(t *testing.T) {
	pool := open(t)
	victim, out := start(t, pool, runaways[3].script+" sleep 1000")
	readLine(t, out)
	bystander, other := start(t, pool, "(setsid sh -c '(echo up; read x; echo alive) & exit' &); sleep 1000")
	readLine(t, other)
	victim.Kill()
	wait(t, "gone", victim.Gone())
	select {
	case <-bystander.Gone():
		t.Fatal("killed with the other")
	default:
	}
	bystander.Kill()
	wait(t, "gone", bystander.Gone())
}

func TestKeepersAreReused(t *testing.T) {
	pool := open(t)
	keeper := soleKeeper(t, pool)
	for range 50 {
		process, _ := start(t, pool, "true")
		wait(t, "gone", process.Gone())
	}
	require.Equal(t, keeper, soleKeeper(t, pool))
}

// SO-18
func TestNoZombies(t *testing.T) {
	pool := open(t)
	for range 20 {
		process, _ := start(t, pool, "(sleep 0.01 &); true")
		wait(t, "gone", process.Gone())
	}
	require.Empty(t, early.ChildrenNow()(soleKeeper(t, pool)))
}

// A keeper costs its own memory and little of the binary it is started from.
func TestKeepersAreSmall(t *testing.T) {
	pool := open(t)
	process, _ := start(t, pool, "exit 0")
	wait(t, "gone", process.Gone())
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", soleKeeper(t, pool)))
	require.NoError(t, err)
	size := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(status)
	require.NotNil(t, size)
	kilobytes, err := strconv.Atoi(string(size[1]))
	require.NoError(t, err)
	t.Logf("%d kB", kilobytes)
	require.Less(t, kilobytes, 8<<10)
}

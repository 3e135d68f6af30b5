package keeper

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzParseOrder(f *testing.F) {
	f.Add(order{path: "/bin/sh", args: []string{"sh", "-c", ""}, env: []string{"A=\xff\n"}}.encode())
	f.Add([]byte{})
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := parseOrder(b)
		if err != nil {
			return
		}
		again, err := parseOrder(o.encode())
		require.NoError(t, err)
		require.Equal(t, o, again)
	})
}

func TestParentIn(t *testing.T) {
	for _, c := range []struct {
		name, stat string
		want       int
		ok         bool
	}{
		{"usual", "12 (sleep) S 7 12 12", 7, true},
		{"parentheses and spaces in the name", "12 (a) S 1 (b) R 9 12", 9, true},
		{"cut off", "12 (sleep) S", 0, false},
		{"empty", "", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := parentIn([]byte(c.stat))
			require.Equal(t, c.ok, ok)
			require.Equal(t, c.want, got)
		})
	}
}

func TestBothWaysToFindChildrenAgree(t *testing.T) {
	pool := open(t)
	process, out := start(t, pool, runaways[3].script+runaways[0].script+" sleep 1000")
	readLine(t, out)
	readLine(t, out)
	keeper := soleKeeper(t, pool)
	require.ElementsMatch(t, childrenByScan()(keeper), childrenByTask(keeper))
	require.Contains(t, childrenByTask(keeper), process.PID)
	process.Kill()
	wait(t, "gone", process.Gone())
}

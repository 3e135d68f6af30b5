package schedule

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func strikes(b *Breaker, how string) {
	for i, c := range how {
		switch c {
		case 'd':
			b.Denied("op")
		case 'c':
			b.Crashed("op", int64(i+1))
		case 's': // the same crash, or none
			b.Crashed("op", int64(strings.LastIndexByte(how[:i], 'c')+1))
		case 'r':
			b.Ran("op")
		}
	}
}

func TestBreaker(t *testing.T) {
	tests := []struct {
		name, strikes string
		asked, free   string // words of why such a call is not made; empty when it is
	}{
		{"nothing", "", "", ""},
		{"two denials", "dd", "", ""},
		{"three denials", "ddd", "its last 3 calls in this session were denied, so that nobody is asked about it for 1m0s", ""},
		{"not in a row", "ddrdd", "", ""},
		{"three crashes", "ccc", "crash of its provider (3 of them)", "left alone for 1m0s"},
		{"a crash among them", "dcd", "crash of its provider (1 of them)", "left alone"},
		{"one crash of many calls", "csssss", "", ""},
		{"no crash of the provider's own", "ssss", "", ""},
		{"two crashes of many calls and a denial", "csscssd", "crash of its provider (2 of them)", "left alone"},
		{"a crash that is past", "crddd", "were denied, so that nobody", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b Breaker
				strikes(&b, test.strikes)
				for free, want := range map[bool]string{false: test.asked, true: test.free} {
					why := b.Open("op", free)
					require.Equal(t, want == "", why == "", why)
					require.Contains(t, why, want)
				}
				require.Empty(t, b.Open("another", false))
			})
		})
	}
}

func TestBreakerComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		strikes(&b, "ddd")
		time.Sleep(30 * time.Second)
		strikes(&b, "dddd") // what the open circuit answers prolongs nothing
		require.Contains(t, b.Open("op", false), "for 30s")
		time.Sleep(30 * time.Second)
		require.Empty(t, b.Open("op", false), "one call gets through")
		strikes(&b, "d")
		require.Contains(t, b.Open("op", false), "for 2m0s", "and was denied as well")
		time.Sleep(2 * time.Minute)
		strikes(&b, "r")
		strikes(&b, "dd")
		require.Empty(t, b.Open("op", false), "a call that ran begins a new row")
		strikes(&b, "d")
		require.Contains(t, b.Open("op", false), "for 1m0s")
	})
}

func TestBreakerWaitsNoLongerThanIsBearable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		strikes(&b, "dd")
		for range 20 {
			strikes(&b, "d")
			time.Sleep(maxCoolDown)
			require.Empty(t, b.Open("op", false))
		}
	})
}

func TestBreakerFromManySides(t *testing.T) {
	var b Breaker
	var wait sync.WaitGroup
	for i := range 50 {
		wait.Go(func() {
			op := strconv.Itoa(i % 3)
			b.Denied(op)
			b.Crashed(op, int64(i+1))
			b.Open(op, false)
			if i >= 48 {
				b.Ran(op)
			}
		})
	}
	wait.Wait()
	require.NotEmpty(t, b.Open("2", true))
}

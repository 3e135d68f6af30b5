package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	require.Equal(t, counts{"Invoke/one_after_another": 412, "Output": 7}, parse([]byte(`goos: linux
BenchmarkInvoke/one_after_another-2   	    1000	    210000 ns/op	   30000 B/op	     412 allocs/op
BenchmarkOutput-16      	     300	      1000 ns/op	 32.1 MB/s	    500 B/op	       7 allocs/op
BenchmarkOther-2        	     300	      1000 ns/op
PASS
`)))
}

func TestHold(t *testing.T) {
	recorded := limits{"a": 100, "b": 10, "strace": 5}
	for _, test := range []struct {
		name    string
		counts  counts
		skipped map[string]string
		want    string
	}{
		{"as recorded", counts{"a": 100, "b": 10, "strace": 5}, nil, ""},
		{"less", counts{"a": 50, "b": 1, "strace": 5}, nil, ""},
		{"a little more", counts{"a": 112, "b": 13, "strace": 5}, nil, ""},
		{"too much", counts{"a": 114, "b": 10, "strace": 5}, nil, "a: 114 for a call, where 100 are recorded and 113 would pass"},
		{"skipped", counts{"a": 100, "b": 10}, map[string]string{"strace": "not here"}, ""},
		{"not counted", counts{"a": 100, "strace": 5}, nil, "b is recorded and was not counted"},
		{"new", counts{"a": 1, "b": 1, "strace": 1, "c": 1}, nil, "c has no limit"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			err := recorded.hold(test.counts, test.skipped, &out)
			if test.want == "" {
				require.NoError(t, err)
				require.Contains(t, out.String(), "of        100")
				return
			}
			require.ErrorContains(t, err, test.want)
		})
	}
}

// What is too much on a busy machine is counted again, and the least holds.
func TestTheLeastHolds(t *testing.T) {
	recorded := limits{"a": 100, "b": 10}
	c := counts{"a": 120, "b": 10, "new": 1}
	require.True(t, recorded.exceeded(c))
	c.lower(counts{"a": 105, "b": 13})
	require.Equal(t, counts{"a": 105, "b": 10, "new": 1}, c)
	require.False(t, recorded.exceeded(c))
}

func TestLimitsAreReadAsRecorded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "limits.json")
	none, err := readLimits(file)
	require.NoError(t, err)
	require.Empty(t, none)
	l := limits{"a": 1, "strace": 7, "gone": 2}.record(counts{"a": 2}, map[string]string{"strace": "not here"})
	require.Equal(t, limits{"a": 2, "strace": 7}, l)
	require.NoError(t, l.write(file))
	got, err := readLimits(file)
	require.NoError(t, err)
	require.Equal(t, l, got)
}

func TestTotal(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(log, []byte(`% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.000600           1       600       100 read
------ ----------- ----------- --------- --------- ----------------
100.00    0.001000           1      1234       107 total
`), 0o644))
	n, err := total(log)
	require.NoError(t, err)
	require.Equal(t, 1234.0, n)
	require.NoError(t, os.WriteFile(log, []byte("nothing"), 0o644))
	_, err = total(log)
	require.Error(t, err)
}

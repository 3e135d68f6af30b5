package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadMany(t *testing.T) {
	w := newWorld(t, args{"max_result_bytes": 1000})
	long := ""
	for range 200 {
		long += "nine byte\n"
	}
	w.put("root/a", "a\n")
	w.put("root/long", long)
	w.put("out.txt", "SECRET")
	w.link("../out.txt", "root/leak")
	got := w.must("read_many", args{"paths": []any{"a", "lonk", "leak", "long"}})["files"].([]any)
	file := func(i int, part string) args { v, _ := got[i].(args)[part].(args); return v }
	require.Equal(t, "a\n", file(0, "result")["content"])
	require.Equal(t, "not_found", file(1, "error")["category"])
	require.Contains(t, file(1, "error")["message"], "did you mean long?")
	require.Equal(t, "permission_denied", file(2, "error")["category"])
	require.Equal(t, true, file(3, "result")["truncated"])
	require.Equal(t, 100., file(3, "result")["next_offset"], "what the others leave is for the last one")
	w.must("edit_file", args{"path": "a", "old_string": "a", "new_string": "b"})
	w.refused("read_many", args{"paths": []any{}}, invalid)
	one := w.must("read_many", args{"paths": []any{"long"}, "limit": 2})["files"].([]any)[0].(args)["result"].(args)
	require.Equal(t, 3., one["next_offset"])
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/providers/release-tools/internal/gittest"
)

func TestServe(t *testing.T) {
	gittest.Isolate(t)
	r := gittest.New(t)
	r.Write("f.txt", "changed\n")
	before := r.Git("for-each-ref")
	for _, test := range []struct {
		name, operation string
		dir             string
		want            answer
		fails           string
	}{
		{name: "tags are taken back", operation: "tag", dir: r.Dir, want: answer{ID: 1, TookMS: make([]float64, 3)}},
		{name: "what changed is counted", operation: "status", dir: r.Dir, want: answer{ID: 1, TookMS: make([]float64, 3), Result: result{Changes: 1}}},
		{name: "an operation that there is not", operation: "merge", dir: r.Dir, fails: `there is no operation "merge"`},
		{name: "no repository", operation: "status", dir: t.TempDir(), fails: "repository"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			require.NoError(t, serve(t.Context(), strings.NewReader(fmt.Sprintf(`{"id":1,"operation":%q,"dir":%q,"n":3}`, test.operation, test.dir)), &out))
			var got answer
			require.NoError(t, json.Unmarshal(out.Bytes(), &got))
			if test.fails != "" {
				require.Contains(t, got.Error, test.fails)
				return
			}
			for i := range got.TookMS {
				require.Positive(t, got.TookMS[i])
				got.TookMS[i] = 0
			}
			require.Equal(t, test.want, got)
			require.Equal(t, before, r.Git("for-each-ref"))
		})
	}
	require.ErrorContains(t, serve(t.Context(), strings.NewReader("x\n"), &bytes.Buffer{}), "no JSON object")
}

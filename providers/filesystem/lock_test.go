package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/sdk"
)

// Who waits for a file while another takes away what was to be done to it hears
// of that, and keeps no lock.
func TestLockOfWhatGoesMeanwhile(t *testing.T) {
	var w workspace
	found := 0
	_, _, err := w.lock(t.Context(), &sdk.Call[config]{}, func() ([]target, error) {
		if found++; found > 1 {
			return nil, sdk.NotFound("it is gone")
		}
		return []target{{name: "f", resolved: "/f"}}, nil
	})
	require.ErrorContains(t, err, "it is gone")
	unlock, err := w.locks.Lock(t.Context(), "/f")
	require.NoError(t, err)
	unlock()
}

// Of several undos of one change, by several spellings, one takes it back.
func TestUndosOfOneChange(t *testing.T) {
	w := newWorld(t, nil)
	for range 50 {
		w.must("write_file", args{"path": "f", "content": "new"})
		errs := make(chan string)
		spellings := []string{"f", "./f", "f/../f", "././f"}
		for _, path := range append(spellings, w.root+"/f") {
			go func() { errs <- w.Call(t.Context(), "undo", args{"path": path}).Err.GetMessage() }()
		}
		undone := 0
		for range len(spellings) + 1 {
			message := <-errs
			require.NotContains(t, message, "panic")
			if message == "" {
				undone++
			}
		}
		require.Equal(t, 1, undone)
	}
}

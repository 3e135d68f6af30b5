package atomicfile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever a journal holds, only temporary files are to be removed or to take
// the place of others.
func FuzzJournal(f *testing.F) {
	const temp = "/d/.agent-ABCDEFGHIJKLMNOPQRSTUVWXYZ.tmp"
	f.Add(`"` + temp + "\"\n\"/precious\"\n")
	f.Add(`step ID "/d/f" "` + temp + `" "` + temp + "\" 5 1700000000\nmade ID \"/d\"\nbegin ID\n")
	f.Add(`step ID "/d/f" "/precious" "" 5 1` + "\nbegin ID\ndone ID\nbegin\nstep\n")
	f.Add(`step ID "/d/f" "" "` + temp)
	f.Fuzz(func(t *testing.T, journal string) {
		temps, batches := read(strings.NewReader(journal))
		for _, name := range temps {
			require.True(t, IsTemp(name), name)
		}
		for _, b := range batches {
			for _, s := range b.steps {
				require.True(t, s.fresh == "" || IsTemp(s.fresh), s.fresh)
				require.True(t, s.old == "" || IsTemp(s.old), s.old)
			}
		}
	})
}

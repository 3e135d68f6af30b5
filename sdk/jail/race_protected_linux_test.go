package jail

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A directory changes places with links that stay inside but lead to what may
// not be changed: a read-only root, and a directory that the deny list hides.
func TestRaceIntoWhatIsProtected(t *testing.T) {
	for _, target := range []string{"vault", "kept"} {
		t.Run(target, func(t *testing.T) {
			base, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			h := house{base: base, root: filepath.Join(base, "root")}
			for _, dir := range []string{"sub", "kept", "vault"} {
				for _, name := range []string{"f", "f2", "new", "newer", "made/below/f"} {
					h.put(t, filepath.Join("root", dir, "deep", name), dir)
				}
			}
			h.link(t, target, "root/other")
			h.Jail, err = New(Options{Roots: []string{h.root}, ReadOnly: []string{filepath.Join(h.root, "kept")}, Deny: []string{"vault"}})
			require.NoError(t, err)
			defer func() { require.NoError(t, h.Close()) }()
			before := tree(t, filepath.Join(h.root, target))

			end, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				h.exchangeUntil(t, end)
			}()
			rounds := 14 * 2000
			if testing.Short() {
				rounds /= 10
			}
			for i := range rounds {
				h.tryAll(t, i)
			}
			close(end)
			<-ended
			require.Equal(t, before, tree(t, filepath.Join(h.root, target)))
		})
	}
}

// exchangeUntil lets root/sub and root/other change places.
func (h house) exchangeUntil(t *testing.T, end <-chan struct{}) {
	for {
		select {
		case <-end:
			return
		default:
		}
		if err := unix.Renameat2(unix.AT_FDCWD, h.root+"/sub", unix.AT_FDCWD, h.root+"/other", unix.RENAME_EXCHANGE); err != nil {
			t.Error(err)
			return
		}
	}
}

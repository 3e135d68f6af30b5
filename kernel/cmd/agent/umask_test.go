//go:build unix

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A umask that takes our own rights away leaves nothing behind that the next command, or the user, cannot get into. Whatever
// it is, what is kept of calls is for its owner alone.
func TestUmask(t *testing.T) {
	for _, umask := range []string{"0777", "0000"} {
		t.Run(umask, func(t *testing.T) {
			cmd := agentIn(t, "", "invoke", "filesystem.write_file", "path=written", "content=x", "--yes")
			umasked := exec.Command("sh", "-c", "umask "+umask+`; exec "$0" "$@"`)
			umasked.Args = append(umasked.Args, cmd.Args...)
			umasked.Dir, umasked.Env = cmd.Dir, cmd.Env
			said, err := umasked.CombinedOutput()
			require.NoError(t, err, string(said))
			info, err := os.Stat(filepath.Join(cmd.Dir, "written"))
			require.NoError(t, err)
			require.Equal(t, fs.FileMode(0o600), info.Mode()&0o700)
			for _, top := range []string{"state", "cache"} {
				kept := filepath.Join(filepath.Dir(cmd.Dir), top, "agent")
				require.NoError(t, filepath.WalkDir(kept, func(path string, d fs.DirEntry, err error) error {
					require.NoError(t, err)
					info, err := d.Info()
					require.NoError(t, err)
					want := fs.FileMode(0o600)
					if d.IsDir() {
						want = 0o700
					}
					require.Equal(t, want, info.Mode().Perm(), path)
					return nil
				}))
			}
		})
	}
}

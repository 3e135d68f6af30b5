package readonly

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A Git that does not know GIT_NO_LAZY_FETCH asks for what is missing; no protocol that it
// could ask with has a name for which the repository has an alias.
func TestNoProtocolIsAllowed(t *testing.T) {
	repository := t.TempDir()
	mark := filepath.Join(repository, "mark")
	git := func(without string, arguments ...string) {
		cmd := exec.Command("git", arguments...)
		cmd.Dir, cmd.Env = repository, os.Environ()
		for name, value := range Environment {
			if name != without && name != "GIT_NO_LAZY_FETCH" {
				cmd.Env = append(cmd.Env, name+"="+value)
			}
		}
		_ = cmd.Run() // the object is missing in any case
	}
	git("", "init", "-q")
	for _, name := range []string{"none", "never", "ext", "file"} {
		for setting, value := range map[string]string{
			"remote.origin.url": name + "::x", "remote.origin.promisor": "true", "alias.remote-" + name: "!touch '" + mark + "'; echo",
			"core.repositoryFormatVersion": "1", "extensions.partialClone": "origin", "protocol.allow": "always",
		} {
			git("", "config", setting, value)
		}
		git("", "cat-file", "-p", "1234567890123456789012345678901234567890")
		require.NoFileExists(t, mark, name)
	}
	// The place is as hostile as it is meant to be.
	git("", "config", "remote.origin.url", "none::x")
	git("GIT_ALLOW_PROTOCOL", "cat-file", "-p", "1234567890123456789012345678901234567890")
	require.FileExists(t, mark)
}

package client

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/agentco/agent/proto/plugin"
)

// Options say what to launch. Path is required.
type Options struct {
	// Path of the provider's binary.
	Path string
	// Args are its arguments.
	Args []string
	// Dir is the working directory, the one of this process when empty.
	Dir string
	// Env is added to the variables that every provider gets: PATH, HOME, TMPDIR, LANG and LC_*.
	Env []string
	// WholeEnv gives the provider every variable of this process.
	WholeEnv bool
	// Temp is where sockets go, and the provider's TMPDIR. Empty means a new folder that goes with the provider.
	Temp string
	// Stderr takes what the provider prints; nil drops it.
	Stderr io.Writer
	// Timeout is how long the handshake may take; zero means a minute.
	Timeout time.Duration
	// Plain gives the provider no client certificate.
	Plain bool
	// Offline takes the network away where the system lets us, and points proxies to nowhere elsewhere.
	Offline bool
	// Mute serves no callbacks.
	Mute bool
	// Delay is how late each callback is answered.
	Delay time.Duration
	// Heard is told all that comes over the connection, callbacks included; it may be nil.
	Heard Heard
}

func (o Options) command() *exec.Cmd {
	cmd := exec.Command(o.Path, o.Args...)
	cmd.Dir = o.Dir
	cmd.Env = environment(o.WholeEnv)
	if o.Temp != "" {
		cmd.Env = replace(cmd.Env, "TMPDIR", o.Temp)
	}
	cmd.Env = append(cmd.Env, o.Env...)
	if o.Offline {
		disconnect(cmd)
		for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
			cmd.Env = append(cmd.Env, name+"=http://127.0.0.1:9", strings.ToLower(name)+"=http://127.0.0.1:9")
		}
		cmd.Env = append(cmd.Env, "NO_PROXY=localhost,127.0.0.1,::1", "no_proxy=localhost,127.0.0.1,::1")
	}
	return cmd
}

func handshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{
		ProtocolVersion: plugin.ProtocolVersion, MagicCookieKey: plugin.MagicCookieKey, MagicCookieValue: plugin.MagicCookieValue,
	}
}

// environment is what the protocol lets every provider have of ours.
func environment(whole bool) (out []string) {
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		switch {
		case whole, name == "PATH", name == "HOME", name == "TMPDIR", name == "LANG", strings.HasPrefix(name, "LC_"):
			out = append(out, pair)
		}
	}
	return out
}

func replace(env []string, name, value string) []string {
	env = slices.DeleteFunc(env, func(pair string) bool { return strings.HasPrefix(pair, name+"=") })
	return append(env, name+"="+value)
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/cli"
	"github.com/agentco/agent/kernel/internal/host/hosttest"
	"github.com/agentco/agent/proto/plugin"
)

// binaries is the folder of the provider binaries, built once from their modules.
var binaries string

// TestMain makes this test binary the command agent for the scripts, and builds the real providers.
func TestMain(m *testing.M) {
	if os.Getenv(plugin.MagicCookieKey) == plugin.MagicCookieValue {
		hosttest.Main(m) // as the provider that scripts call $FIXTURE
	}
	testscript.Main(built{m}, map[string]func(){
		"agent": func() { os.Exit(cli.Main("1.2.3-test")) },
	})
}

type built struct{ m *testing.M }

func (b built) Run() int {
	dir, err := os.MkdirTemp("", "providers")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binaries = dir
	if err := buildProviders(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return b.m.Run()
}

func buildProviders(to string) error {
	modules, err := filepath.Glob("../../../providers/*/go.mod")
	if err != nil || len(modules) == 0 {
		return fmt.Errorf("no providers to test with: %w", err)
	}
	for _, mod := range modules {
		dir := filepath.Dir(mod)
		build := exec.Command("go", "build", "-o", filepath.Join(to, "provider-"+filepath.Base(dir)), ".")
		build.Dir = dir
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", dir, err, out)
		}
	}
	return nil
}

// TestScripts runs the black-box scripts of testdata/script. Each has a user's configuration with
// dev_overrides for the real providers, and a project of its own making.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUp,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exit":    exits,
			"waitfor": waitFor,
		},
	})
}

func setUp(env *testscript.Env) error {
	config := filepath.Join(env.WorkDir, ".config")
	if err := os.MkdirAll(filepath.Join(config, "agent"), 0o755); err != nil {
		return err
	}
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("XDG_CONFIG_HOME", config)
	env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state"))
	env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
	env.Setenv("BIN", binaries)
	env.Setenv("FIXTURE", hosttest.Path())
	for _, name := range []string{"NO_COLOR", "CLICOLOR_FORCE"} {
		env.Setenv(name, "")
	}
	if err := lendGo(env); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(config, "agent", "config.hcl"), []byte(overrides()), 0o644)
}

// lendGo lets scripts build in the caches of whoever runs the tests, and with the SDK of this repository.
func lendGo(env *testscript.Env) error {
	repository, err := filepath.Abs("../../..")
	if err != nil {
		return err
	}
	env.Setenv("REPOSITORY", repository)
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			return fmt.Errorf("go env %s: %w", name, err)
		}
		env.Setenv(name, strings.TrimSpace(string(value)))
	}
	return nil
}

// overrides is a user's configuration that names the real providers.
func overrides() string {
	text := "dev_overrides {\n"
	for _, name := range []string{"filesystem", "bash", "release-tools"} {
		text += fmt.Sprintf("  %s = %q\n", name, filepath.Join(binaries, "provider-"+name))
	}
	return text + "}\n"
}

// exits is `exit CODE COMMAND …`: the command must end with that code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit CODE COMMAND [ARG …]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// waitFor is `waitfor FILE`: the file must come to be.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitfor FILE")
	}
	path := ts.MkAbs(args[0])
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	ts.Fatalf("%s did not come to be", args[0])
}

const project = `required_providers {
  filesystem    = { source = "github.com/agentco/agent//provider-filesystem" }
  bash          = { source = "github.com/agentco/agent//provider-bash" }
  release-tools = { source = "github.com/agentco/agent//provider-release-tools" }
}

provider "filesystem" {
  allowed_roots = ["${path.root}"]
}

provider "bash" {
  env = { AGENT_TEST_MARK = %q }
}
`

// agentIn is a command of agent in a new project with all three providers. What its commands run carries mark.
func agentIn(t testing.TB, mark string, args ...string) *exec.Cmd {
	t.Helper()
	home := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(home, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("project/agent.hcl", fmt.Sprintf(project, mark))
	write("config/agent/config.hcl", overrides())
	agent, err := exec.LookPath("agent") // the one of testscript.Main
	require.NoError(t, err)
	cmd := exec.Command(agent, args...)
	cmd.Dir = filepath.Join(home, "project")
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+filepath.Join(home, "config"), "XDG_CACHE_HOME="+filepath.Join(home, "cache"),
		"XDG_STATE_HOME="+filepath.Join(home, "state"))
	return cmd
}

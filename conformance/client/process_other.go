//go:build !unix

package client

import (
	"os"
	"os/exec"
)

func start(cmd *exec.Cmd) error { return cmd.Start() }

func killGroup(p *os.Process) { _ = p.Kill() }

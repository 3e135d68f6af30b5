//go:build !linux

package client

import "os/exec"

func disconnect(*exec.Cmd) {}

// Isolates reports whether Options.Offline takes the network away, and not only the way to it.
const Isolates = false

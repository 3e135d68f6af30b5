//go:build !unix

package repo

import (
	"os"
	"os/exec"
)

// contain leaves the defaults: where there are no process groups, a cancel ends git alone.
func contain(*exec.Cmd) {}

func sweep(*exec.Cmd) {}

// hold locks nothing; the steps themselves still notice most of what others do meanwhile.
func hold(folder string) (*os.File, bool, error) {
	file, err := os.Open(folder)
	return file, true, err
}

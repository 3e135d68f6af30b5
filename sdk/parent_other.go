//go:build !linux

package sdk

import "os"

// parentDeath is closed when the process that started this one is gone.
func parentDeath() <-chan struct{} { return pollParent(os.Getppid()) }

//go:build !linux

package cli

import "os"

// discardTypeahead does nothing here: what was typed ahead is taken for the answer.
func discardTypeahead(*os.File) {}

// setEcho does nothing here: what is typed is shown.
func setEcho(*os.File, bool) (back func()) { return func() {} }

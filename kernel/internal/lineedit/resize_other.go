//go:build !unix

package lineedit

import "os"

// watchSize never tells: a new size is seen at the next key.
func watchSize() (resized <-chan os.Signal, stop func()) { return nil, func() {} }

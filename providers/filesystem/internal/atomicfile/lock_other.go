//go:build !unix

package atomicfile

import (
	"errors"
	"os"
)

// claim cannot tell the living from the dead without advisory locks.
func claim(*os.File) (bool, error) { return false, errors.ErrUnsupported }

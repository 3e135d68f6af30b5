//go:build !unix

package atomicfile

import (
	"errors"
	"os"

	"github.com/spf13/afero"
)

// claim cannot tell the living from the dead without advisory locks.
func claim(*os.File) (bool, error) { return false, errors.ErrUnsupported }

// canLock is false: an open file could not be replaced.
const canLock = false

func tryLock(afero.File) bool { return true }

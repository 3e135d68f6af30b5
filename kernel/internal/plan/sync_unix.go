//go:build unix

package plan

import (
	"errors"
	"os"
)

// syncDir makes the names in a folder safe from a loss of power.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

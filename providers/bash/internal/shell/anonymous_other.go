//go:build !linux

package shell

import (
	"errors"
	"os"
)

// anonymous returns an empty file that has lost its name.
func anonymous(name string) (*os.File, error) {
	f, err := os.CreateTemp("", name+"-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

//go:build !linux

package host

import "os"

// seal copies the program and hashes the copy: nothing here can be executed by its descriptor.
func seal(file *os.File, to string) (*verified, string, error) { return copied(file, to) }

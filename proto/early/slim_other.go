//go:build !linux

package early

// Slim does nothing here: what is in memory of the binary cannot be told apart.
func Slim() {}

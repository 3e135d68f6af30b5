//go:build !linux

package processes

// Supported reports whether processes can be told apart on this system.
const Supported = false

// Related knows nothing here.
func Related(int, string) []int { return nil }

// Touching knows nothing here.
func Touching(string) []int { return nil }

// Children knows nothing here.
func Children(int) []int { return nil }

// Name knows nothing here.
func Name(int) string { return "" }

package lock

import (
	"fmt"
	"regexp"
	"runtime"
)

// Platform is an operating system and an architecture, in Go's names: linux_amd64.
type Platform string

var platformPattern = regexp.MustCompile(`^[a-z0-9]+_[a-z0-9]+$`)

// ThisPlatform is the one this program was built for.
func ThisPlatform() Platform { return Platform(runtime.GOOS + "_" + runtime.GOARCH) }

// ParsePlatform reads OS_ARCH.
func ParsePlatform(s string) (Platform, error) {
	if !platformPattern.MatchString(s) {
		return "", fmt.Errorf("%q is not a platform: write OS_ARCH in the names of Go, such as linux_amd64 or darwin_arm64", s)
	}
	return Platform(s), nil
}

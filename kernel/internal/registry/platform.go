package registry

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
)

// Platform is what an archive is built for, in Go's words.
type Platform struct{ OS, Arch string }

// A platform is a name in the lock file, and no name begins with a digit.
var platformPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([a-z][a-z0-9]*)_([a-z0-9]+)$`) })

// ParsePlatform reads OS_ARCH, such as linux_amd64.
func ParsePlatform(s string) (Platform, error) {
	m := platformPattern().FindStringSubmatch(s)
	if m == nil {
		return Platform{}, fmt.Errorf("%q is not a platform: write OS_ARCH, such as linux_amd64", s)
	}
	return Platform{m[1], m[2]}, nil
}

// Here is the platform of this process.
func Here() Platform { return Platform{runtime.GOOS, runtime.GOARCH} }

func (p Platform) String() string { return p.OS + "_" + p.Arch }

// extension is that of the platform's archives.
func (p Platform) extension() string {
	if p.OS == "windows" {
		return ".zip"
	}
	return ".tar.gz"
}

// archivePlatform is the platform in the name of an archive of prefix and version.
func archivePlatform(name, prefix, version string) (Platform, bool) {
	for _, v := range []string{version, "v" + version} {
		rest, ok := strings.CutPrefix(name, prefix+"_"+v+"_")
		if !ok {
			continue
		}
		for _, ext := range []string{".tar.gz", ".zip"} {
			if platform, ok := strings.CutSuffix(rest, ext); ok {
				p, err := ParsePlatform(platform)
				return p, err == nil && p.extension() == ext
			}
		}
	}
	return Platform{}, false
}

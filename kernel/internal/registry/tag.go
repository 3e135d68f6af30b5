package registry

import (
	"regexp"
	"sync"

	"github.com/hashicorp/go-version"
)

// tagPattern is a tag that names a version: v and strict SemVer, without build metadata, since two tags that
// differ only in that would be the same version.
var tagPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^v((?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?)$`)
})

func parseTag(tag string) (*version.Version, bool) {
	m := tagPattern().FindStringSubmatch(tag)
	if m == nil || len(tag) > 100 {
		return nil, false
	}
	v, err := version.NewVersion(m[1])
	return v, err == nil
}

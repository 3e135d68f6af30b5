package registry

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// IndexName is the file in a source's folder of a mirror that says what is there.
const IndexName = "index.json"

// MirrorIndex is that file. Keys a reader does not know are for later; the format grows without a number.
type MirrorIndex struct {
	Versions map[string]MirrorRelease `json:"versions"`
}

// MirrorRelease is one version: the names of the files in its folder. They are those of the release itself,
// its checksums file and signatures among them.
type MirrorRelease struct {
	Files []string `json:"files"`
}

// ParseMirrorIndex reads an index. Names that could lead out of the version's folder are refused.
func ParseMirrorIndex(data []byte) (MirrorIndex, error) {
	var index MirrorIndex
	if err := json.Unmarshal(data, &index); err != nil {
		return MirrorIndex{}, fmt.Errorf("it is no index of a mirror: %w", err)
	}
	for version, release := range index.Versions {
		if _, ok := parseTag("v" + version); !ok {
			return MirrorIndex{}, fmt.Errorf("%.40q is not a version", version)
		}
		for _, name := range release.Files {
			if !plainName(name) {
				return MirrorIndex{}, fmt.Errorf("version %s names the file %.80q, which is no plain file name", version, name)
			}
		}
	}
	return index, nil
}

// plainName reports whether a name leads nowhere else, and does nothing to a terminal that shows it.
func plainName(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= 255 &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == '/' || r == '\\' || r == ':' })
}

// Marshal is the text of the file, the same for the same content.
func (m MirrorIndex) Marshal() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the index of a mirror: %w", err)
	}
	return append(data, '\n'), nil
}

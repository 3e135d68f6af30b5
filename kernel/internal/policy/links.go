package policy

import (
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many links are followed in one path, as systems have it.
const maxLinks = 40

// followed is a path as a system walks it: a link is gone through where it stands, and ".." leaves the folder that was
// reached. What is not there yet stays as it is written. It is not ok when links lead round in a circle.
func (p Place) followed(value string) (at string, ok bool) {
	if !filepath.IsAbs(value) {
		value = p.Dir + string(filepath.Separator) + value // Join would take ".." for the way back
	}
	if straight(value) {
		return filepath.Clean(value), true
	}
	return walked(value)
}

// walked is followed part by part, for an absolute path.
func walked(value string) (at string, ok bool) {
	volume := filepath.VolumeName(value)
	root := volume + string(filepath.Separator)
	at = root
	left := parts(value[len(volume):])
	for links := 0; len(left) > 0; {
		part := left[0]
		left = left[1:]
		switch part {
		case ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		at = filepath.Join(at, part)
		target, err := os.Readlink(at)
		if err != nil { // is no link, or is not there
			continue
		}
		if links++; links > maxLinks {
			return "", false
		}
		at = filepath.Dir(at)
		if filepath.IsAbs(target) {
			at = root
			target = target[len(filepath.VolumeName(target)):]
		}
		left = append(parts(target), left...)
	}
	return at, true
}

func parts(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}

// behind is where the links in a path lead: from the root if it is there or below, and as a whole.
func (p Place) behind(value string) (rel, whole string, inside, ok bool) {
	whole, ok = p.followed(value)
	root, found := p.followed(p.Root)
	if !ok || !found {
		return "", "", false, false
	}
	rel, err := filepath.Rel(root, whole)
	return filepath.ToSlash(rel), filepath.ToSlash(whole), err == nil && filepath.IsLocal(rel), true
}

// unlinked is a path from the root as it is when the root is called by its own name, links in that or not.
func (p Place) unlinked(rel string, inside bool) string {
	if !inside {
		return ""
	}
	return filepath.ToSlash(filepath.Join(p.Root, filepath.FromSlash(rel)))
}

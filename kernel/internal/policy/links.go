package policy

import (
	"os"
	"path/filepath"
	"slices"
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

// ends are where a path leads, and where the link is that it ends with: to move it, or to delete it, does not follow it. The
// working directory and the root are not meant as links. There are none of links that lead round in a circle.
func (p Place) ends(value string) []string {
	real, ok := p.followed(value)
	if !ok {
		return nil
	}
	written := p.absolute(value)
	dir, name := filepath.Split(value)
	if slices.Contains([]string{real, filepath.Clean(p.Dir), filepath.Clean(p.Root)}, written) || slices.Contains([]string{"", ".", ".."}, name) {
		return []string{real}
	}
	above, _ := p.followed(dir) // as the whole of it was
	if itself := filepath.Join(above, name); itself != real {
		return []string{real, itself}
	}
	return []string{real}
}

// fromRoot is a path without links as seen from where the root is, if it is there or below.
func (p Place) fromRoot(whole string) (rel string, inside bool) {
	root, found := p.followed(p.Root)
	rel, err := filepath.Rel(root, whole)
	return filepath.ToSlash(rel), found && err == nil && filepath.IsLocal(rel)
}

// unlinked is a path from the root as it is when the root is called by its own name, links in that or not.
func (p Place) unlinked(rel string, inside bool) string {
	if !inside {
		return ""
	}
	return filepath.ToSlash(filepath.Join(p.Root, filepath.FromSlash(rel)))
}

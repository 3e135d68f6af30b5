package sdk

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shownPath is a path as a sentence can hold it: quoted when it would break the sentence up, and without the dot that an
// os.Root leaves at the end of the name of a directory.
func shownPath(path string) string {
	if bare := strings.TrimSuffix(path, "/."); bare != "" {
		path = bare
	}
	if !utf8.ValidString(path) || strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(path)
	}
	return path
}

// withPathsShown is the text of err with the paths in it as [shownPath] has them.
func withPathsShown(text string, err error) string {
	var one *fs.PathError
	var two *os.LinkError
	switch {
	case errors.As(err, &one):
		shown := *one
		shown.Path = shownPath(one.Path)
		return strings.ReplaceAll(text, one.Error(), shown.Error())
	case errors.As(err, &two):
		shown := *two
		shown.Old, shown.New = shownPath(two.Old), shownPath(two.New)
		return strings.ReplaceAll(text, two.Error(), shown.Error())
	}
	return text
}

// reasonOf is the cause of err without the paths that stand beside it already.
func reasonOf(err error) error {
	if reason, named := pathReason(err); named {
		return reason
	}
	return err
}

// pathReason is what an error about paths says of them. named is false of an error about none.
func pathReason(err error) (reason error, named bool) {
	var one *fs.PathError
	var two *os.LinkError
	switch {
	case errors.As(err, &one):
		return one.Err, true
	case errors.As(err, &two):
		return two.Err, true
	}
	return nil, false
}

package mcp

import (
	"errors"
	"net/url"
	"runtime"
	"strings"
)

// folderOf is the folder that a root names.
func folderOf(uri string) (string, error) {
	return folderOn(uri, runtime.GOOS == "windows")
}

// folderOn is folderOf on a kind of system: on Windows paths begin with a drive or the name of another machine.
func folderOn(uri string, windows bool) (string, error) {
	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return "", errors.New("it is no URI; every % and other special character has to be percent-encoded")
	case u.Scheme != "file":
		return "", errors.New("it is not of the form file:///FOLDER")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("a ? or # in the name of a folder has to be percent-encoded")
	case !strings.HasPrefix(u.Path, "/") || strings.ContainsRune(u.Path, 0):
		return "", errors.New("it names no absolute path")
	}
	machine := u.Host
	if strings.EqualFold(machine, "localhost") {
		machine = ""
	}
	path := u.Path
	if trimmed := strings.TrimRight(path, "/"); trimmed != "" {
		path = trimmed
	}
	switch {
	case !windows && machine != "":
		return "", errors.New("it is on another machine")
	case !windows:
		return path, nil
	case machine != "":
		return `\\` + machine + backslashed(path), nil
	case !onDrive(path):
		return "", errors.New("it names no drive")
	case len(path) == len("/c:"):
		return path[1:] + `\`, nil
	}
	return backslashed(path[1:]), nil
}

// onDrive reports whether the path of a URI names a drive of Windows, as /c: does.
func onDrive(path string) bool {
	if len(path) < len("/c:") || path[2] != ':' || len(path) > len("/c:") && path[3] != '/' {
		return false
	}
	letter := path[1] | 0x20
	return 'a' <= letter && letter <= 'z'
}

func backslashed(path string) string { return strings.ReplaceAll(path, "/", `\`) }

package session

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// networkKind names the file system of a folder when it is one over a network; else it is empty.
var networkKind = func(dir string) (string, error) {
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(dir) + `\`)
	if err != nil {
		return "", err
	}
	if windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return "remote drive", nil
	}
	return "", nil
}

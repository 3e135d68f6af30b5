package engine

import (
	"path/filepath"

	"github.com/adrg/xdg"
)

// ownFolders are what agent keeps for a user outside of any project: what is changed there changes what it may do, or
// what it says that it did.
func ownFolders() []string {
	var own []string
	for _, folder := range []string{xdg.ConfigHome, xdg.StateHome, xdg.CacheHome} {
		own = append(own, filepath.Join(folder, "agent"))
	}
	return own
}

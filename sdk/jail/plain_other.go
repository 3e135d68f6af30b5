//go:build !linux

package jail

import "io/fs"

// plain needs a system call that only Linux has.
func (*root) plain(string) (fs.FileInfo, bool) { return nil, false }

package catalogue

import (
	"os"
	"syscall"
)

func (id *identity) fill(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	if ok {
		id.Ctime, id.Inode, id.Dev = s.Ctim.Nano(), s.Ino, uint64(s.Dev) //nolint:unconvert // 32 bits on some architectures
	}
	return ok
}

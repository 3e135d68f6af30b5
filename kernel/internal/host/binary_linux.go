package host

import (
	"bytes"
	"io"
	"os"
	"syscall"

	"github.com/agentco/agent/kernel/internal/keeper"
)

// seal hashes an open program and makes it executable by its descriptor, which stays what it is when the path is given
// to another file. The link is there for the name: a process is called after the last element of what was executed. A
// script is read by its interpreter, which gets no descriptor of ours, so it runs as a copy, and so does what others may
// write into once it has been hashed.
func seal(file *os.File, link string) (*verified, string, error) {
	head := make([]byte, 2)
	if _, err := file.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, "", err
	}
	if bytes.Equal(head, []byte("#!")) || !ours(file) {
		return copied(file, link)
	}
	got, err := hashOf(file)
	if err != nil {
		return nil, "", err
	}
	if err := os.Symlink(keeper.ByDescriptor, link); err != nil {
		return nil, "", err
	}
	return &verified{path: link, file: file}, got, nil
}

// ours reports whether only this user, and who may do everything anyway, can write into a file.
func ours(file *os.File) bool {
	info, err := file.Stat()
	if err != nil || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (stat.Uid == 0 || int(stat.Uid) == os.Geteuid())
}

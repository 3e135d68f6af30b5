package workdir

import "golang.org/x/sys/unix"

// searchFlags open a directory to pass through it, which needs no right to list it.
const searchFlags = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC

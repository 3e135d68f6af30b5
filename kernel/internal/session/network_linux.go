package session

import (
	"errors"

	"golang.org/x/sys/unix"
)

// networkTypes are the file systems whose memory is not shared by all that use them, as statfs(2) tells them.
var networkTypes = map[int64]string{
	unix.NFS_SUPER_MAGIC:  "nfs",
	unix.SMB_SUPER_MAGIC:  "smb",
	unix.CIFS_SUPER_MAGIC: "cifs",
	unix.SMB2_SUPER_MAGIC: "smb",
	unix.V9FS_MAGIC:       "9p",
	unix.FUSE_SUPER_MAGIC: "fuse",
	unix.AFS_SUPER_MAGIC:  "afs",
	unix.AFS_FS_MAGIC:     "afs",
	unix.CODA_SUPER_MAGIC: "coda",
	unix.NCP_SUPER_MAGIC:  "ncp",
	unix.CEPH_SUPER_MAGIC: "ceph",
	0x0BD00BD0:            "lustre",
	0x47504653:            "gpfs",
	0x7461636f:            "ocfs2",
}

// networkKind names the file system of a folder when it is one over a network; else it is empty. A variable, since no
// test machine has all of them.
var networkKind = func(dir string) (string, error) {
	var fs unix.Statfs_t
	for {
		err := unix.Statfs(dir, &fs)
		if !errors.Is(err, unix.EINTR) {
			return networkTypes[int64(uint32(fs.Type))], err
		}
	}
}

package atomicfile

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestAttributesStay(t *testing.T) {
	target := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(target, []byte("old"), 0o600))
	long := make([]byte, 2000) // more than a first guess holds
	for name, value := range map[string][]byte{"user.note": []byte("keep"), "user.long": long, "user.empty": nil} {
		if err := unix.Setxattr(target, name, value, 0); errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) {
			t.Skip("no extended attributes here: ", err)
		} else {
			require.NoError(t, err)
		}
	}
	w := Writer{FS: afero.NewOsFs()}
	require.NoError(t, w.Write(t.Context(), to(target, "new")))
	buf := make([]byte, 4096)
	n, err := unix.Getxattr(target, "user.note", buf)
	require.NoError(t, err)
	require.Equal(t, "keep", string(buf[:n]))
	n, err = unix.Getxattr(target, "user.long", buf)
	require.NoError(t, err)
	require.Equal(t, len(long), n)
	n, err = unix.Getxattr(target, "user.empty", buf)
	require.NoError(t, err)
	require.Zero(t, n)
}

func TestOwnerStays(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only the superuser can give files away")
	}
	target := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(target, []byte("old"), 0o600))
	require.NoError(t, os.Chown(target, 1234, 4321))
	require.NoError(t, os.Chmod(target, 0o4751|os.ModeSetuid))
	w := Writer{FS: afero.NewOsFs()}
	require.NoError(t, w.Write(t.Context(), to(target, "new")))
	info, err := os.Stat(target)
	require.NoError(t, err)
	stat := info.Sys().(*syscall.Stat_t)
	require.EqualValues(t, 1234, stat.Uid)
	require.EqualValues(t, 4321, stat.Gid)
	require.Equal(t, 0o751|os.ModeSetuid, info.Mode())
}

// A directory may give its new files an access control list. The file that takes
// the place of an old one must not let in whom the old one kept out.
func TestListOfTheDirectoryIsNotInherited(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(target, []byte("old"), 0o640))
	const everyone, access = 0xffffffff, "system.posix_acl_access"
	list := binary.LittleEndian.AppendUint32(nil, 2) // the version
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{{1, 7, everyone}, {2, 7, 999}, {4, 5, everyone}, {16, 7, everyone}, {32, 5, everyone}} {
		list = binary.LittleEndian.AppendUint16(list, e.tag)
		list = binary.LittleEndian.AppendUint16(list, e.perm)
		list = binary.LittleEndian.AppendUint32(list, e.id)
	}
	if err := unix.Setxattr(dir, "system.posix_acl_default", list, 0); err != nil {
		t.Skip("no access control lists here: ", err)
	}
	require.NoError(t, os.WriteFile(dir+"/other", nil, 0o640))
	_, err := unix.Getxattr(dir+"/other", access, make([]byte, 1024))
	require.NoError(t, err, "the directory gives files a list")

	w := Writer{FS: afero.NewOsFs()}
	require.NoError(t, w.Write(t.Context(), to(target, "new")))
	_, err = unix.Getxattr(target, access, make([]byte, 1024))
	require.ErrorIs(t, err, unix.ENODATA)
	info, err := os.Stat(target)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode())
}

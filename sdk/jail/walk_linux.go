package jail

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// handle is a directory by its descriptor.
type handle int

// File is an open file of a [Dir]. It is read by one goroutine at a time.
type File struct{ fd int }

const dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK

// openHandle opens p and reports whether it is still what it was.
func openHandle(p place) (h handle, unchanged bool, err error) {
	if p.root.direct != nil {
		if fd, err := p.root.direct.open(p.rel, dirFlags); err == nil {
			now, err := fstat(fd)
			if err != nil {
				return -1, false, firstError(err, unix.Close(fd))
			}
			return handle(fd), same(now, p.info), nil
		}
	}
	f, err := p.root.handle.OpenFile(p.rel, unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		return -1, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return -1, false, err
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return -1, false, err
	}
	fd := -1
	if controlErr := raw.Control(func(from uintptr) { fd, err = unix.FcntlInt(from, unix.F_DUPFD_CLOEXEC, 0) }); controlErr != nil {
		return -1, false, controlErr
	}
	return handle(fd), same(info, p.info), err
}

func (h handle) close() error { return unix.Close(int(h)) }

// retry repeats what a signal interrupted.
func retry(do func() error) error {
	for {
		if err := do(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func (h handle) openat(name string, flags int) (fd int, err error) {
	for {
		if fd, err = unix.Openat(int(h), name, flags, 0); err != unix.EINTR { //nolint:errorlint // an errno, in a hot path
			return fd, err
		}
	}
}

func (h handle) dir(name string) (handle, error) {
	fd, err := h.openat(name, dirFlags)
	return handle(fd), err
}

func (h handle) open(name string) (File, error) {
	// Without O_NONBLOCK a pipe would wait for its other end. It is for a name
	// that was a regular file a moment ago; the first read finds out.
	fd, err := h.openat(name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY)
	if hidesIrregular(err) {
		err = &Irregular{}
	}
	return File{fd}, err
}

// Read implements [io.Reader].
func (f File) Read(p []byte) (n int, err error) {
	for {
		n, err = unix.Read(f.fd, p)
		switch {
		case err == unix.EINTR: //nolint:errorlint // an errno, in a hot path
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// Close releases the file.
func (f File) Close() error { return unix.Close(f.fd) }

func (h handle) lstat(name string) (Info, error) {
	for {
		var st unix.Stat_t
		switch err := unix.Fstatat(int(h), name, &st, unix.AT_SYMLINK_NOFOLLOW); err {
		case nil:
			return Info{Mode: modeOf(st.Mode), Size: st.Size, ModTime: time.Unix(st.Mtim.Unix())}, nil
		case unix.EINTR: //nolint:errorlint // an errno, in a hot path
		default:
			return Info{}, err
		}
	}
}

func (h handle) readlink(name string) (string, error) {
	buf := make([]byte, unix.PathMax)
	n := 0
	err := retry(func() (err error) {
		n, err = unix.Readlinkat(int(h), name, buf)
		return err
	})
	return string(buf[:max(n, 0)]), err
}

func modeOf(bits uint32) fs.FileMode {
	mode := fs.FileMode(bits&0o777) | typeOf(bits&unix.S_IFMT>>12)
	if bits&unix.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if bits&unix.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if bits&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

// typeOf reads the type of a directory entry, which is also the upper part of
// a mode.
func typeOf(dt uint32) fs.FileMode {
	switch dt {
	case unix.DT_REG:
		return 0
	case unix.DT_DIR:
		return fs.ModeDir
	case unix.DT_LNK:
		return fs.ModeSymlink
	case unix.DT_FIFO:
		return fs.ModeNamedPipe
	case unix.DT_SOCK:
		return fs.ModeSocket
	case unix.DT_CHR:
		return fs.ModeDevice | fs.ModeCharDevice
	case unix.DT_BLK:
		return fs.ModeDevice
	}
	return fs.ModeIrregular
}

// Where the parts of a directory entry lie in what the kernel returns.
const (
	lengthAt, typeAt, nameAt = 16, 18, 19
	listed                   = 64 << 10 // read at a time
)

var listBuffers = sync.Pool{New: func() any { return new([listed]byte) }}

func (h handle) entries() (found []Entry, err error) {
	buf := listBuffers.Get().(*[listed]byte)
	defer listBuffers.Put(buf)
	for {
		n := 0
		err := retry(func() (err error) {
			n, err = unix.Getdents(int(h), buf[:])
			return err
		})
		if n <= 0 || err != nil {
			return found, err
		}
		found = h.parse(found, string(buf[:n]), buf[:n])
	}
}

// parse adds the entries in raw, whose names are taken from text, the same bytes.
func (h handle) parse(found []Entry, text string, raw []byte) []Entry {
	if found == nil {
		found = make([]Entry, 0, len(raw)/40+1)
	}
	for at := 0; at < len(raw); {
		length := int(binary.NativeEndian.Uint16(raw[at+lengthAt:]))
		end := at + nameAt
		for raw[end] != 0 {
			end++
		}
		name, kind := text[at+nameAt:end], typeOf(uint32(raw[at+typeAt]))
		at += length
		if name == "." || name == ".." {
			continue
		}
		if kind == fs.ModeIrregular { // some filesystems do not say
			info, err := h.lstat(name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err == nil {
				kind = info.Mode.Type()
			}
		}
		found = append(found, Entry{Name: name, Type: kind})
	}
	return found
}

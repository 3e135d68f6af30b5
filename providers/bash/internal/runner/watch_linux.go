package runner

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// watch tells which of both streams has something to read, in the order in which they
// came to have it. Two goroutines that read one each are woken in any order, and what was
// printed last is then often read first.
//
// It is an epoll instance, and so a file that the runtime's poller can itself watch.
type watch struct {
	file   *os.File
	fd     int // of file
	raw    syscall.RawConn
	events [2]unix.EpollEvent
}

// newWatch watches files, which the caller closes.
func newWatch(files []*os.File) (*watch, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	for i, f := range files {
		err = errors.Join(err, add(fd, f, Stream(i)))
	}
	// A descriptor that blocks is not watched.
	if _, refused := unix.FcntlInt(uintptr(fd), unix.F_SETFL, unix.O_NONBLOCK); err != nil || refused != nil {
		return nil, errors.Join(err, os.NewSyscallError("fcntl", refused), unix.Close(fd))
	}
	w := &watch{file: os.NewFile(uintptr(fd), "watch"), fd: fd}
	if w.raw, err = w.file.SyscallConn(); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func add(epoll int, f *os.File, s Stream) error {
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(s)}
	var err error
	refused := control(f, func(fd int) { err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &event) })
	return errors.Join(refused, os.NewSyscallError("epoll_ctl", err))
}

// forget watches f no more. Closing f does not see to that: a process that is being started
// holds a copy of it for a moment, and the end of f would be told again and again.
func (w *watch) forget(f *os.File) error {
	var err error
	remove := func(fd int) { err = unix.EpollCtl(w.fd, unix.EPOLL_CTL_DEL, fd, nil) }
	return errors.Join(control(f, remove), os.NewSyscallError("epoll_ctl", err))
}

func (w *watch) close() error { return w.file.Close() }

func (w *watch) setDeadline(t time.Time) { _ = w.file.SetReadDeadline(t) }

// wait blocks until a stream can be read or has ended. After the deadline it looks once
// more for what may have come while this goroutine had no processor to run on.
func (w *watch) wait() ([]unix.EpollEvent, error) {
	n, err := 0, error(nil)
	look := func(fd uintptr) {
		if n, err = unix.EpollWait(int(fd), w.events[:], 0); errors.Is(err, unix.EINTR) {
			n, err = 0, nil
		}
	}
	failed := w.raw.Read(func(fd uintptr) bool { look(fd); return n > 0 || err != nil })
	if errors.Is(failed, os.ErrDeadlineExceeded) {
		if failed = w.raw.Control(look); failed == nil && n <= 0 && err == nil {
			failed = os.ErrDeadlineExceeded
		}
	}
	return w.events[:max(n, 0)], errors.Join(failed, err)
}

// readBoth reads until both streams have ended, or are silent once they are draining.
func (s *streams) readBoth() {
	files := s.readers
	defer func() {
		_ = s.watch.close()
		for _, f := range files {
			_ = f.Close()
		}
	}()
	buffer := make([]byte, chunkSize)
	for open, left := len(files), inFlight; open > 0 && left > 0; {
		if s.draining.Load() {
			s.watch.setDeadline(time.Now().Add(silence))
		}
		ready, err := s.watch.wait()
		if err != nil {
			return
		}
		for _, event := range ready {
			n, err := readNow(files[event.Fd], buffer)
			s.take(Stream(event.Fd), buffer[:n])
			if s.finishing.Load() {
				left -= n
			}
			if err != nil { // the end of the stream, EIO on a terminal
				_ = s.watch.forget(files[event.Fd])
				_ = files[event.Fd].Close()
				open--
			}
		}
	}
}

// torrent is what a read brings at least while a command prints faster than a person, or
// an order between the streams, could follow.
const torrent = 1 << 10

// readNow reads what there is, and goes on as long as it comes in a torrent.
func readNow(f *os.File, buffer []byte) (n int, err error) {
	refused := control(f, func(fd int) {
		for last := torrent; last >= torrent && n < len(buffer) && err == nil; {
			if last, err = unix.Read(fd, buffer[n:]); last > 0 {
				n += last
			} else if err == nil {
				err = io.EOF
			}
		}
	})
	if err == unix.EAGAIN || err == unix.EINTR {
		err = nil
	}
	return n, errors.Join(refused, err)
}

func control(f *os.File, do func(fd int)) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) { do(int(fd)) })
}

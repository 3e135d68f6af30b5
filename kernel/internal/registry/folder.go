package registry

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// openFile opens a file of a mirror's folder; the request's url is its path.
func (r request) openFile() (*os.File, *Error) {
	f, err := openRegular(r.url)
	if err == nil {
		return f, nil
	}
	e := &Error{Code: MirrorFailed, Attempted: r.attempted, On: r.url, Reason: reason(err), Err: err}
	if _, dirErr := os.Stat(r.from.dir); errors.Is(err, fs.ErrNotExist) && dirErr == nil {
		e.Code, e.Reason = NotFound, "the mirror "+r.from.name+" does not have it"
	}
	return nil, r.blamed(e)
}

// openRegular does not open a named pipe, which would be to wait for whoever writes to it.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return os.Open(path)
}

func (r request) readFile(limit int64) ([]byte, error) {
	f, e := r.openFile()
	if e != nil {
		return nil, e
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, r.blamed(&Error{Code: MirrorFailed, Attempted: r.attempted, On: r.url, Reason: reason(err), Err: err})
	case int64(len(data)) > limit:
		return nil, r.blamed(&Error{Code: TooLarge, Attempted: r.attempted, On: r.url, Reason: fmt.Sprintf("the file is larger than %d bytes", limit)})
	}
	return data, nil
}

// reason is a file error without the path, which is told beside it.
func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

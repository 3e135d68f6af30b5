package session

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
)

// What is known of SQLite's file format, from its documentation.
const (
	magic         = "SQLite format 3\x00"
	headerSize    = 100
	pageSizeAt    = 16 // two bytes; 1 stands for 65536
	userVersionAt = 60 // four bytes
	walHeader     = 32
	walFrame      = 24
	walSaltAt     = 16 // eight bytes
	frameSaltAt   = 8
)

// fileVersion reads the version of a file without SQLite, which would take a write-ahead log that was left over into the
// file. It is zero for a file that is none of SQLite.
func fileVersion(path string) (int, error) {
	head := make([]byte, headerSize)
	if err := readHead(path, head); err != nil {
		return 0, err
	}
	if !strings.HasPrefix(string(head), magic) {
		return 0, nil
	}
	v := int(binary.BigEndian.Uint32(head[userVersionAt:]))
	logged, err := walVersion(path+"-wal", pageSize(head))
	if logged > 0 || err != nil {
		return logged, err
	}
	return v, nil
}

func pageSize(head []byte) int64 {
	if n := int64(binary.BigEndian.Uint16(head[pageSizeAt:])); n != 1 {
		return n
	}
	return 65536
}

// readHead fills head; what a short file lacks stays zero.
func readHead(path string, head []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err = io.ReadFull(f, head); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// walVersion is the version in the last first page of a write-ahead log, zero when there is none.
func walVersion(path string, pageSize int64) (v int, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	head := make([]byte, walHeader)
	if _, err := io.ReadFull(f, head); err != nil {
		return 0, nil
	}
	if n := int64(binary.BigEndian.Uint32(head[8:])); n > 0 {
		pageSize = n
	}
	if pageSize < 512 || pageSize > 65536 {
		return 0, nil
	}
	frame := make([]byte, walFrame+headerSize)
	for at := int64(walHeader); ; at += walFrame + pageSize {
		if _, err := f.ReadAt(frame, at); err != nil {
			return v, nil
		}
		if string(frame[frameSaltAt:frameSaltAt+8]) != string(head[walSaltAt:walSaltAt+8]) {
			return v, nil // what follows is of a log before this one
		}
		if binary.BigEndian.Uint32(frame) == 1 {
			v = int(binary.BigEndian.Uint32(frame[walFrame+userVersionAt:]))
		}
	}
}

// checkVersion refuses a newer file before anything touches it.
func checkVersion(path string) error {
	v, err := fileVersion(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && v > len(migrations) {
		return &NewerError{Path: path, Version: v, Have: len(migrations)}
	}
	return err
}

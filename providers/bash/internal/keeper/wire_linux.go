package keeper

import (
	"encoding/binary"
	"errors"
	"io"
)

// What goes over the socket. A request is its kind, the length of its body, the body; the
// descriptors of a start travel beside it. A reply is its kind and one number.
const (
	requestStart     = byte('S') // order
	requestSession   = byte('N') // order, to be started in a session of its own
	requestTerminate = byte('T')
	requestKill      = byte('K')
	requestSignal    = byte('G') // the number, one byte

	replyStarted = byte('s') // pid
	replyRefused = byte('r') // errno
	replyExited  = byte('x') // wait status of the shell
	replyGone    = byte('g') // 0
)

const (
	headerSize = 1 + 4
	replySize  = 1 + 8
)

type reply struct {
	kind  byte
	value int64
}

func header(kind byte, body int) []byte {
	return binary.BigEndian.AppendUint32([]byte{kind}, uint32(body))
}

func parseHeader(b []byte) (kind byte, body int) {
	return b[0], int(binary.BigEndian.Uint32(b[1:]))
}

func (r reply) encode() []byte {
	return binary.BigEndian.AppendUint64([]byte{r.kind}, uint64(r.value))
}

func readReply(from io.Reader) (reply, error) {
	var b [replySize]byte
	if _, err := io.ReadFull(from, b[:]); err != nil {
		return reply{}, err
	}
	return reply{kind: b[0], value: int64(binary.BigEndian.Uint64(b[1:]))}, nil
}

// order is the body of a start request: Spec without its files.
type order struct {
	path string
	args []string
	env  []string
}

var errMalformed = errors.New("malformed start request")

func (o order) encode() []byte {
	b := appendStrings(nil, []string{o.path})
	b = appendStrings(b, o.args)
	return appendStrings(b, o.env)
}

func parseOrder(b []byte) (order, error) {
	path, b, err := cutStrings(b)
	if err != nil || len(path) != 1 {
		return order{}, errMalformed
	}
	args, b, err := cutStrings(b)
	if err != nil {
		return order{}, err
	}
	env, b, err := cutStrings(b)
	if err != nil || len(b) != 0 {
		return order{}, errMalformed
	}
	return order{path: path[0], args: args, env: env}, nil
}

func appendStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

func cutStrings(b []byte) (list []string, rest []byte, err error) {
	count, n := binary.Uvarint(b)
	// Every string takes a byte at least, so a larger count is a lie.
	if n <= 0 || count > uint64(len(b)) {
		return nil, nil, errMalformed
	}
	b = b[n:]
	list = make([]string, 0, count)
	for range count {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return nil, nil, errMalformed
		}
		list = append(list, string(b[n:n+int(size)]))
		b = b[n+int(size):]
	}
	return list, b, nil
}

package serve

import (
	"errors"
	"io"
)

// What goes over the socket. A request is its kind, the length of its body, the body; the
// descriptors of a start travel beside it. A reply is its kind and one number.
const (
	// RequestStart has an Order.
	RequestStart = byte('S')
	// RequestSession has an Order, to be started in a session of its own.
	RequestSession = byte('N')
	// RequestTerminate and RequestKill are for everything that is kept.
	RequestTerminate = byte('T')
	RequestKill      = byte('K')
	// RequestSignal has the number of a signal for the shell's group, in one byte.
	RequestSignal = byte('G')
)

// The kinds of replies, and the number that each comes with.
const (
	ReplyStarted = byte('s') // pid
	ReplyRefused = byte('r') // errno
	ReplyExited  = byte('x') // wait status of the shell
	ReplyGone    = byte('g') // 0
	ReplyEnded   = byte('e') // ReplyExited and ReplyGone in one: wait status of the shell
)

const (
	headerSize = 1 + 4
	replySize  = 1 + 8
)

// Reply is what a keeper says.
type Reply struct {
	Kind  byte
	Value int64
}

// Header begins a request whose body has a size.
func Header(kind byte, body int) []byte {
	return []byte{kind, byte(body >> 24), byte(body >> 16), byte(body >> 8), byte(body)}
}

func parseHeader(b []byte) (kind byte, body int) {
	for _, part := range b[1:headerSize] {
		body = body<<8 | int(part)
	}
	return b[0], body
}

func (r Reply) encode() []byte {
	b := []byte{r.Kind}
	for shift := 56; shift >= 0; shift -= 8 {
		b = append(b, byte(r.Value>>shift))
	}
	return b
}

// ReadReply reads one. It fails when the keeper is gone.
func ReadReply(from io.Reader) (Reply, error) {
	var b [replySize]byte
	if _, err := io.ReadFull(from, b[:]); err != nil {
		return Reply{}, err
	}
	r := Reply{Kind: b[0]}
	for _, part := range b[1:] {
		r.Value = r.Value<<8 | int64(part)
	}
	return r, nil
}

// Order is the body of a start: what to execute, with which arguments and environment. Its
// files travel beside it.
type Order struct {
	Path string
	Args []string
	Env  []string
}

var errMalformed = errors.New("malformed start request")

// Encode is the body of the request.
func (o Order) Encode() []byte {
	b := appendStrings(nil, []string{o.Path})
	b = appendStrings(b, o.Args)
	return appendStrings(b, o.Env)
}

func parseOrder(b []byte) (Order, error) {
	path, b, err := cutStrings(b)
	if err != nil || len(path) != 1 {
		return Order{}, errMalformed
	}
	args, b, err := cutStrings(b)
	if err != nil {
		return Order{}, err
	}
	env, b, err := cutStrings(b)
	if err != nil || len(b) != 0 {
		return Order{}, errMalformed
	}
	return Order{Path: path[0], Args: args, Env: env}, nil
}

func appendStrings(b []byte, list []string) []byte {
	b = appendNumber(b, len(list))
	for _, s := range list {
		b = append(appendNumber(b, len(s)), s...)
	}
	return b
}

func cutStrings(b []byte) (list []string, rest []byte, err error) {
	count, b, err := cutNumber(b)
	// Every string takes some bytes at least, so a larger count is a lie.
	if err != nil || count > len(b) {
		return nil, nil, errMalformed
	}
	list = make([]string, 0, count)
	for range count {
		var size int
		if size, b, err = cutNumber(b); err != nil || size > len(b) {
			return nil, nil, errMalformed
		}
		list = append(list, string(b[:size]))
		b = b[size:]
	}
	return list, b, nil
}

// numberSize is that of a count or a length: no request has more bytes than fit.
const numberSize = 4

func appendNumber(b []byte, n int) []byte {
	return append(b, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

func cutNumber(b []byte) (n int, rest []byte, err error) {
	if len(b) < numberSize {
		return 0, nil, errMalformed
	}
	for _, part := range b[:numberSize] {
		n = n<<8 | int(part)
	}
	return n, b[numberSize:], nil
}

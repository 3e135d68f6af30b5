package serve

// ProcessName is argv[0] of a keeper; what to execute and its arguments follow. It does not have the name of the kernel in
// it, so that whoever kills all processes of that name does not kill those that clean up after it.
const ProcessName = "provider keeper"

// The descriptors of a keeper beside the three that its provider gets.
const (
	// SocketFD is a connection to the kernel.
	SocketFD = 3
	// BinaryFD is the provider's binary, when it is executed by its descriptor.
	BinaryFD = 4
)

// RequestKill is all that a keeper can be told: to kill what it keeps, and to end.
const RequestKill byte = 'K'

// What a keeper says, with a number each.
const (
	ReplyStarted byte = 's' // the process id
	ReplyRefused byte = 'r' // the errno of the start
	ReplyExited  byte = 'x' // the wait status
)

// ReplySize is the size of everything that a keeper says.
const ReplySize = 9

func encode(kind byte, value int) []byte {
	message := make([]byte, ReplySize)
	message[0] = kind
	for i := 1; i < ReplySize; i++ {
		message[i] = byte(value)
		value >>= 8
	}
	return message
}

// Decode reads what a keeper says. The message has ReplySize bytes.
func Decode(message []byte) (kind byte, value int) {
	for i := ReplySize - 1; i > 0; i-- {
		value = value<<8 | int(message[i])
	}
	return message[0], value
}

package sdk

import (
	"crypto/sha256"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/proto/codec"
)

const (
	// rememberedCalls bounds what a process keeps for [Operation.Render]: enough for a turn of calls.
	rememberedCalls = 64
	// rememberedBytes bounds it for calls that are given whole files: on the wire, of one operation.
	rememberedBytes = 8 << 20
)

// recent remembers the arguments of the last calls by what they returned.
type recent[In any] struct {
	mu    sync.Mutex
	byKey map[[sha256.Size]byte]remembered[In]
	order [][sha256.Size]byte
	bytes int
}

type remembered[In any] struct {
	in    In
	bytes int
}

func (r *recent[In]) remember(payload, arguments *structpb.Struct, in In) {
	key, ok := digest(payload)
	if !ok {
		return
	}
	call := remembered[In]{in, proto.Size(arguments)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byKey == nil {
		r.byKey = map[[sha256.Size]byte]remembered[In]{}
	}
	if _, known := r.byKey[key]; !known {
		r.order = append(r.order, key)
	}
	r.bytes += call.bytes - r.byKey[key].bytes
	r.byKey[key] = call
	for len(r.order) > rememberedCalls || r.bytes > rememberedBytes && len(r.order) > 1 {
		r.bytes -= r.byKey[r.order[0]].bytes
		delete(r.byKey, r.order[0])
		r.order = append(r.order[:0], r.order[1:]...)
	}
}

func (r *recent[In]) recall(payload *structpb.Struct) (in In) {
	key, ok := digest(payload)
	if !ok {
		return in
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byKey[key].in
}

// digest is the same for the same payload however it travelled: a number comes through JSON unchanged, and the members
// are put in order.
func digest(payload *structpb.Struct) (key [sha256.Size]byte, ok bool) {
	encoded, err := codec.Marshal(payload)
	return sha256.Sum256(encoded), err == nil
}

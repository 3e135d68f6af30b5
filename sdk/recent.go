package sdk

import (
	"crypto/sha256"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// rememberedCalls bounds what a process keeps for [Operation.Render]: enough for a turn of calls.
const rememberedCalls = 64

// recent remembers the arguments of the last calls by what they returned.
type recent[In any] struct {
	mu    sync.Mutex
	byKey map[[sha256.Size]byte]In
	order [][sha256.Size]byte
}

func (r *recent[In]) remember(payload *structpb.Struct, in In) {
	key, ok := digest(payload)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byKey == nil {
		r.byKey = map[[sha256.Size]byte]In{}
	}
	if _, known := r.byKey[key]; !known {
		r.order = append(r.order, key)
	}
	r.byKey[key] = in
	if len(r.order) > rememberedCalls {
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
	return r.byKey[key]
}

// digest is the same for the same payload however it travelled: a number comes through JSON unchanged, and the members
// are put in order.
func digest(payload *structpb.Struct) (key [sha256.Size]byte, ok bool) {
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(payload)
	return sha256.Sum256(encoded), err == nil
}

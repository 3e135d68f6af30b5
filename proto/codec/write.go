package codec

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// writer encodes from the end to the front, so that every length is known when its turn comes. A method that is not ok
// has met what the standard encoder has to decide about.
type writer struct {
	buf *[]byte // from the pool
	at  int     // what is written begins here, and ends at the end
}

// firstBytes is a buffer for a small result. A larger one gets twice as much again and again, or what a long text needs.
const firstBytes = 4 << 10

func newWriter() *writer {
	w := &writer{buf: mem.DefaultBufferPool().Get(firstBytes)}
	w.at = len(*w.buf)
	return w
}

// discard gives the buffer back.
func (w *writer) discard() { mem.DefaultBufferPool().Put(w.buf) }

// buffer hands over what was written. The writer is of no use afterwards.
func (w *writer) buffer() mem.Buffer {
	all := mem.NewBuffer(w.buf, mem.DefaultBufferPool())
	if w.at == 0 {
		return all
	}
	unused, written := mem.SplitUnsafe(all, w.at)
	unused.Free()
	return written
}

// room makes sure of n bytes in front of what is written, and takes them.
func (w *writer) room(n int) []byte {
	if w.at < n {
		written := (*w.buf)[w.at:]
		next := mem.DefaultBufferPool().Get(max(2*len(*w.buf), len(written)+n+firstBytes))
		at := len(*next) - len(written)
		copy((*next)[at:], written)
		w.discard()
		w.buf, w.at = next, at
	}
	w.at -= n
	return (*w.buf)[w.at : w.at+n]
}

// head writes a tag and the length of what was written since end.
func (w *writer) head(tag byte, end int) { w.length(tag, w.size()-end) }

func (w *writer) size() int { return len(*w.buf) - w.at }

func (w *writer) length(tag byte, n int) {
	if n < 0x80 { // as most are
		b := w.room(2)
		b[0], b[1] = tag, byte(n)
		return
	}
	var head [1 + binary.MaxVarintLen64]byte
	head[0] = tag
	copy(w.room(1+binary.PutUvarint(head[1:], uint64(n))), head[:])
}

func (w *writer) text(tag byte, s string) bool {
	copy(w.room(len(s)), s)
	w.length(tag, len(s))
	return utf8.ValidString(s)
}

// structure writes the members of an object, the last key first.
func (w *writer) structure(s *structpb.Struct, level int) bool {
	if level > deepest || !plain(s) {
		return false
	}
	var few [16]entry
	entries := few[:0]
	for key, value := range s.GetFields() {
		entries = append(entries, entry{key, value})
	}
	order(entries)
	for i := len(entries) - 1; i >= 0; i-- {
		end := w.size()
		if !w.value(tagValue, entries[i].value, level+1) || !w.text(tagKey, entries[i].key) {
			return false
		}
		w.head(tagEntry, end)
	}
	return true
}

type entry struct {
	key   string
	value *structpb.Value
}

// order sorts entries by their keys; the few that most objects have are soon in order.
func order(entries []entry) {
	if len(entries) > 16 {
		slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
		return
	}
	for i := 1; i < len(entries); i++ {
		e, j := entries[i], i
		for ; j > 0 && entries[j-1].key > e.key; j-- {
			entries[j] = entries[j-1]
		}
		entries[j] = e
	}
}

// value writes a value as a field with this tag.
func (w *writer) value(tag byte, v *structpb.Value, level int) bool {
	end := w.size()
	ok := w.kind(v, level)
	w.head(tag, end)
	return ok
}

// kind writes what a value is.
func (w *writer) kind(v *structpb.Value, level int) (ok bool) {
	if !plain(v) {
		return false
	}
	end := w.size()
	switch kind := v.GetKind().(type) {
	case *structpb.Value_StringValue:
		ok = kind != nil && w.text(tagString, kind.StringValue)
	case *structpb.Value_NumberValue:
		ok = kind != nil && w.number(kind.NumberValue)
	case *structpb.Value_BoolValue:
		ok = kind != nil && w.small(tagBool, kind.BoolValue)
	case *structpb.Value_NullValue:
		ok = kind != nil && kind.NullValue == structpb.NullValue_NULL_VALUE && w.small(tagNull, false)
	case *structpb.Value_StructValue:
		if ok = kind != nil && w.structure(kind.StructValue, level); ok {
			w.head(tagStruct, end)
		}
	case *structpb.Value_ListValue:
		if ok = kind != nil && w.list(kind.ListValue, level); ok {
			w.head(tagList, end)
		}
	}
	return ok
}

func (w *writer) list(l *structpb.ListValue, level int) bool {
	if level > deepest || !plain(l) {
		return false
	}
	values := l.GetValues()
	for i := len(values) - 1; i >= 0; i-- {
		if !w.value(tagItem, values[i], level+1) {
			return false
		}
	}
	return true
}

func (w *writer) number(n float64) bool {
	b := w.room(9)
	b[0] = tagNumber
	binary.LittleEndian.PutUint64(b[1:], math.Float64bits(n))
	return true
}

func (w *writer) small(tag byte, set bool) bool {
	b := w.room(2)
	b[0], b[1] = tag, 0
	if set {
		b[1] = 1
	}
	return true
}

// plain reports whether a message is there and has no fields but those that this program knows.
func plain(m proto.Message) bool {
	r := m.ProtoReflect()
	return r.IsValid() && len(r.GetUnknown()) == 0
}

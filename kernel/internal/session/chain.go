package session

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"time"
)

// Chain is the running hash of a log. The hash of an event is SHA-256 over, in this order,
//
//	the hash of the event before (of the first: SHA-256 of "agent session " and the id of the session)
//	sequence, as eight bytes, big endian
//	id, timestamp, kind, producer_category, producer_name, producer_version, schema_version, payload,
//	and, of a tool_result, the transcript of its call, which is empty when nothing was printed
//
// each of the last line's fields as its length in eight bytes, big endian, and then its bytes, as they are in the file.
// The transcript is SHA-256 over the rows of output of the call, in order: timestamp, stream and data in the same form,
// then skipped as eight bytes.
//
// What it proves: no event, and no output of a finished call, was changed, put in, or taken out in the middle, unless
// everything after it was written anew. Rows that are missing at the end show in sqlite_sequence, in the head that
// session_meta has of an ended session, and against any export made before. What it does not prove: that nobody
// rewrote the whole file. Whoever can write the file can compute the chain; there is no secret in it. Keep the head of
// `agent session verify`, or an export, elsewhere, when that matters.
type Chain struct {
	head [sha256.Size]byte
	sum  hash.Hash // memory of next, as buf is
	buf  []byte
}

// NewChain begins the chain of a session.
func NewChain(sessionID string) *Chain {
	return &Chain{head: sha256.Sum256([]byte("agent session " + sessionID))}
}

// Head is the hash of the last event.
func (c *Chain) Head() []byte { return c.head[:] }

// resume goes on from the hash of an event.
func (c *Chain) resume(hash []byte) { copy(c.head[:], hash) }

// next is the hash of the event that would follow; the chain stays where it is.
func (c *Chain) next(e Event, timestamp string, transcript []byte) []byte {
	if c.sum == nil {
		c.sum = sha256.New()
	}
	c.sum.Reset()
	b := append(c.buf[:0], c.head[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(e.Sequence))
	for _, field := range [...]string{e.ID, timestamp, string(e.Kind), e.Producer.Category, e.Producer.Name, e.Producer.Version, e.SchemaVersion} {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(field))), field...)
	}
	b = binary.BigEndian.AppendUint64(b, uint64(len(e.Payload)))
	c.sum.Write(b)
	c.sum.Write(e.Payload)
	if e.Kind == ToolResult {
		b = append(binary.BigEndian.AppendUint64(b[:0], uint64(len(transcript))), transcript...)
		c.sum.Write(b)
	}
	c.buf = b
	return c.sum.Sum(nil)
}

// transcript hashes the output of one call.
type transcript struct{ sum hash.Hash }

func (t *transcript) add(timestamp, stream string, data []byte, skipped int64) {
	if t.sum == nil {
		t.sum = sha256.New()
	}
	text(t.sum, timestamp)
	text(t.sum, stream)
	number(t.sum, int64(len(data)))
	t.sum.Write(data)
	number(t.sum, skipped)
}

// bytes is nil when there was no output.
func (t *transcript) bytes() []byte {
	if t.sum == nil {
		return nil
	}
	return t.sum.Sum(nil)
}

func number(h hash.Hash, n int64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	h.Write(b[:])
}

func text(h hash.Hash, s string) {
	number(h, int64(len(s)))
	h.Write([]byte(s))
}

// timeLayout is RFC 3339 in UTC with a fixed width, so that texts sort as times do.
const timeLayout = "2006-01-02T15:04:05.000000Z"

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(timeLayout)
}

// parseTime is zero for what is no time: a reader must not fail for it.
func parseTime(s string) time.Time {
	t, err := time.Parse(timeLayout, s)
	if err != nil {
		return time.Time{}
	}
	return t
}

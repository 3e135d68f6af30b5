package session

import (
	"encoding/binary"
	"errors"
	"time"
)

// row is what the log is made of: an event with its rows of a plan, or output. Which of the two n counts is what kind says.
type row struct {
	kind byte
	// n is the sequence of an event, or the rowid of output: what has a number is written once, however often it comes.
	n      int64
	at     time.Time
	event  Entry  // of rowEvent
	output Output // of rowOutput
	// printed says of the result of a call that it has output, which its hash covers.
	printed bool
	receipt *Receipt // nil for output, and for what was read
}

const (
	rowEvent  byte = 1
	rowOutput byte = 2
)

// bulk is what an event or output is mostly made of.
func (r *row) bulk() []byte {
	if r.kind == rowEvent {
		return r.event.Payload
	}
	return r.output.Data
}

// size is about what a row takes in memory and in the tail.
func (r *row) size() int { return 512 + len(r.bulk()) }

// appendHead appends a row as it is in the tail, but for its bulk, which follows.
func (r *row) appendHead(b []byte) []byte {
	b = append(b, r.kind)
	b = binary.AppendUvarint(b, uint64(r.n))
	b = binary.AppendVarint(b, r.at.UnixMicro())
	if r.kind == rowOutput {
		b = appendText(b, r.output.CallID, r.output.Stream)
		b = binary.AppendUvarint(b, uint64(r.output.Skipped))
		return binary.AppendUvarint(b, uint64(len(r.output.Data)))
	}
	e := &r.event
	b = appendText(b, e.ID, string(e.Kind), e.Producer.Category, e.Producer.Name, e.Producer.Version, e.Producer.Source, e.SchemaVersion, e.CallID)
	if r.printed {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(e.Items)))
	for _, i := range e.Items {
		b = appendText(b, i.TurnID, i.CallID, i.Provider, i.Tool, i.Decision, i.DecidedBy)
	}
	return binary.AppendUvarint(b, uint64(len(e.Payload)))
}

func appendText(b []byte, texts ...string) []byte {
	for _, text := range texts {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	return b
}

var errRow = errors.New("it is no row of a session")

// decodeRows reads rows until there are no more bytes. What it returns shares its memory with them.
func decodeRows(content []byte) (rows []row, err error) {
	d := decoder{rest: content}
	for len(d.rest) > 0 && !d.bad {
		rows = append(rows, d.row())
	}
	if d.bad {
		return nil, errRow
	}
	return rows, nil
}

// decoder reads what appendHead wrote. Once something is bad, all that it returns is empty.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) row() (r row) {
	r.kind = d.byte()
	r.n = d.number()
	r.at = d.time()
	switch r.kind {
	case rowOutput:
		r.output = Output{CallID: d.text(), Time: r.at, Stream: d.text(), Skipped: d.number(), Data: d.bytes()}
	case rowEvent:
		e := &r.event
		e.ID, e.Kind = d.text(), Kind(d.text())
		e.Producer = Producer{Category: d.text(), Name: d.text(), Version: d.text(), Source: d.text()}
		e.SchemaVersion, e.CallID = d.text(), d.text()
		r.printed = d.byte() != 0
		for range d.number() {
			if d.bad {
				return row{}
			}
			e.Items = append(e.Items, PlanItem{TurnID: d.text(), CallID: d.text(), Provider: d.text(), Tool: d.text(), Decision: d.text(), DecidedBy: d.text()})
		}
		e.Payload = d.bytes()
	default:
		d.bad = true
	}
	return r
}

func (d *decoder) byte() byte {
	if len(d.rest) == 0 {
		d.bad = true
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

// number is one that is not negative.
func (d *decoder) number() int64 {
	n, size := binary.Uvarint(d.rest)
	d.skip(size)
	if int64(n) < 0 || d.bad {
		d.bad = true
		return 0
	}
	return int64(n)
}

func (d *decoder) time() time.Time {
	at, n := binary.Varint(d.rest)
	d.skip(n)
	return time.UnixMicro(at).UTC()
}

func (d *decoder) skip(n int) {
	if n <= 0 {
		d.bad, d.rest = true, nil
		return
	}
	d.rest = d.rest[n:]
}

func (d *decoder) bytes() []byte {
	n := d.number()
	if n > int64(len(d.rest)) {
		d.bad = true
	}
	if d.bad {
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) text() string { return string(d.bytes()) }

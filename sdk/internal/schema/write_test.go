package schema_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/agentco/agent/proto/codec"
)

type everything struct {
	listing
	Free    map[string]any `json:"free"`
	Nothing map[string]any `json:"nothing"`
	When    time.Time      `json:"when"`
	Often   []*time.Time   `json:"often"`
	Ratio   *float64       `json:"ratio"`
	Matrix  [][]int        `json:"matrix"`
	Text    string         `json:"text"`
}

func whole() everything {
	now, half := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), 0.5
	return everything{listing: entries(), Free: map[string]any{"b": []any{nil, true, 1.5, "x"}, "a": map[string]any{}}, When: now, Often: []*time.Time{&now, &now},
		Ratio: &half, Matrix: [][]int{{1, 2}, {}, nil}, Text: "a\xffb"}
}

// What is written is byte for byte what is encoded.
func TestWrittenAsEncoded(t *testing.T) {
	for name, value := range map[string]everything{"zero": {}, "whole": whole(), "long": {Text: strings.Repeat("x", 100_000)}} {
		t.Run(name, func(t *testing.T) {
			encoded, err := typeOf[everything](t).Encode(value)
			require.NoError(t, err)
			want, err := proto.MarshalOptions{Deterministic: true}.Marshal(encoded)
			require.NoError(t, err)
			written, err := typeOf[everything](t).Write(value)
			require.NoError(t, err)
			got, err := proto.MarshalOptions{Deterministic: true}.Marshal(written)
			require.NoError(t, err)
			require.Equal(t, want, got)
			opened, err := codec.Opened(written)
			require.NoError(t, err)
			require.True(t, proto.Equal(encoded, opened))
		})
	}
}

// freed is everything but what only decoding can make.
type freed struct {
	listing
	When    time.Time    `json:"when"`
	Often   []*time.Time `json:"often"`
	Ratio   *float64     `json:"ratio"`
	Matrix  [][]int      `json:"matrix"`
	Text    string       `json:"text"`
	Flag    bool         `json:"flag"`
	Level   int          `json:"level" default:"3" min:"1"`
	Comment string       `json:"comment,omitempty"`
}

// What was written is taken as it is decoded.
func TestTakenAsDecoded(t *testing.T) {
	all := whole()
	some := freed{listing: all.listing, When: all.When, Often: all.Often, Ratio: all.Ratio, Matrix: all.Matrix, Text: all.Text, Flag: true, Level: 7, Comment: "x"}
	t.Run("whole", func(t *testing.T) { takenAsDecoded(t, some) })
	t.Run("much of it left out", func(t *testing.T) { takenAsDecoded(t, freed{}) })
	t.Run("with what only decoding can make", func(t *testing.T) { takenAsDecoded(t, all) })
	t.Run("encoded, not written", func(t *testing.T) { takenAsDecoded(t, freed{Text: strings.Repeat("x", 100_000)}) })
}

func takenAsDecoded[T any](t *testing.T, value T) {
	t.Helper()
	written, err := typeOf[T](t).Write(value)
	require.NoError(t, err)
	opened, err := codec.Opened(written)
	require.NoError(t, err)
	var want, got T
	require.NoError(t, typeOf[T](t).Decode(opened, &want))
	require.NoError(t, typeOf[T](t).DecodeWritten(written, &got))
	require.Equal(t, want, got)
}

// What was not written of this type is refused as decoding does.
func TestNotTakenAsNotDecoded(t *testing.T) {
	type other struct {
		Text  int    `json:"text"`
		Extra string `json:"extra"`
	}
	written, err := typeOf[other](t).Write(other{1, "x"})
	require.NoError(t, err)
	opened, err := codec.Opened(written)
	require.NoError(t, err)
	var into freed
	want := typeOf[freed](t).Decode(opened, &freed{})
	require.Error(t, want)
	require.EqualError(t, typeOf[freed](t).DecodeWritten(written, &into), want.Error())
}

// What does not fit is refused in the same words.
func TestNotWrittenAsNotEncoded(t *testing.T) {
	spoilt := map[string]func(*everything){
		"no number":          func(e *everything) { e.Entries[2].Share = math.NaN() },
		"rounded":            func(e *everything) { e.Matrix[1] = []int{1, 1<<53 + 1} },
		"outside its enum":   func(e *everything) { e.Entries[1].Kind = "sock" },
		"nil in a list":      func(e *everything) { e.Often[1] = nil },
		"no JSON":            func(e *everything) { e.Free["b"] = math.Inf(1) },
		"two, and the first": func(e *everything) { e.Entries[4].Kind, e.Entries[3].Share = "", math.NaN() },
	}
	for name, spoil := range spoilt {
		t.Run(name, func(t *testing.T) {
			value := whole()
			spoil(&value)
			_, want := typeOf[everything](t).Encode(value)
			require.Error(t, want)
			_, err := typeOf[everything](t).Write(value)
			require.EqualError(t, err, want.Error())
		})
	}
}

// BenchmarkResult makes a payload of 10,000 entries.
func BenchmarkResult(b *testing.B) {
	var value listing
	for range 2000 {
		value.Entries = append(value.Entries, entries().Entries[:5]...)
	}
	schema := typeOf[listing](b)
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := schema.Encode(value)
			require.NoError(b, err)
		}
	})
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := schema.Write(value)
			require.NoError(b, err)
		}
	})
}

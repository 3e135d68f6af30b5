package session

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// frames are groups of rows of every kind, numbered.
func frames() (groups [][]row) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 123456000, time.UTC)
	event := func(n int64, e Entry) row { return row{kind: rowEvent, n: n, at: at, event: e} }
	output := func(n int64, o Output) row {
		o.Time = at
		return row{kind: rowOutput, n: n, at: at, output: o}
	}
	call := toolCall("a")
	call.ID, call.SchemaVersion = "01J", "1"
	result := event(3, toolResult("a"))
	result.printed = true
	return [][]row{
		{event(1, call), output(1, Output{CallID: "a", Stream: Stdout, Data: []byte("one\n")}), event(2, plan("a"))},
		{output(2, Output{CallID: "a", Skipped: 300, Data: []byte{}}), result},
		{event(4, Entry{Kind: ToolCall, Payload: bytes.Repeat([]byte("large "), directBytes)}), event(5, Entry{Kind: "message", Payload: []byte{}})},
		{event(6, Entry{Kind: Apply, Producer: Producer{Category: "kernel"}, Payload: []byte("é\x00\xff")})},
	}
}

// ends writes groups into a tail and returns its content, and where each frame ends.
func ends(t testing.TB, groups [][]row) (content []byte, at []int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x"+extension)
	tail, err := createTail(path, pathID(path))
	require.NoError(t, err)
	for _, group := range groups {
		require.NoError(t, tail.write(group))
		at = append(at, int(tail.at))
	}
	require.NoError(t, tail.close())
	content, err = os.ReadFile(tailOf(path))
	require.NoError(t, err)
	return content, at
}

func joined(groups [][]row) (all []row) {
	for _, group := range groups {
		all = append(all, group...)
	}
	return all
}

func TestTailRoundTrip(t *testing.T) {
	groups := frames()
	content, at := ends(t, groups)
	l := parseTail(content, "x", false)
	require.Empty(t, l.damage)
	require.Equal(t, joined(groups), l.rows)
	require.Equal(t, len(content), at[len(at)-1])
}

// What a kill leaves of the last frame is none, wherever it was cut off.
func TestTornTail(t *testing.T) {
	groups := frames()
	groups[2][0].event.Payload = []byte("short")
	content, at := ends(t, groups)
	for size := range content {
		whole := 0
		for whole < len(at) && at[whole] <= size {
			whole++
		}
		l := parseTail(content[:size], "x", false)
		require.Empty(t, l.damage, size)
		require.Equal(t, joined(groups[:whole]), l.rows, size)
	}
}

// A frame that is not what was written is told of when there is one after it, and that one is read.
func TestDamagedTail(t *testing.T) {
	groups := frames()
	groups[2][0].event.Payload = []byte("short")
	content, at := ends(t, groups)
	for i := range content {
		changed := bytes.Clone(content)
		changed[i] ^= 0x41
		l := parseTail(changed, "x", false)
		switch frame := frameOfByte(at, i); {
		case i < tailHead:
			require.NotEmpty(t, l.damage, i)
			require.Empty(t, l.rows, i)
		case frame == len(groups)-1:
			require.Empty(t, l.damage, "byte %d: nothing tells it from one that was torn", i)
			require.Equal(t, joined(groups[:frame]), l.rows, i)
		default:
			require.NotEmpty(t, l.damage, i)
			require.Equal(t, append(joined(groups[:frame]), joined(groups[frame+1:])...), l.rows, i)
			require.Equal(t, leftover{rows: joined(groups[:frame])}, parseTail(changed, "x", true), "%d: while it is written that is nothing", i)
		}
	}
}

func frameOfByte(ends []int, i int) (frame int) {
	for ends[frame] <= i {
		frame++
	}
	return frame
}

// What the payloads look like does not hide what follows the damage.
func TestDamageAmongPayloads(t *testing.T) {
	for name, pattern := range map[string][]byte{"zeros": {0}, "ones": {1}, "lengths": {0, 0, 1, 2}, "frames": {0, 0, 0, 9, 1, 1, 1, 1, 1}} {
		t.Run(name, func(t *testing.T) {
			var groups [][]row
			for n := range int64(14) {
				groups = append(groups, []row{{kind: rowEvent, n: n + 1, at: time.UnixMicro(1.7e15).UTC(), event: Entry{Kind: ToolCall, Payload: bytes.Repeat(pattern, 300_000/len(pattern))}}})
			}
			content, _ := ends(t, groups)
			content[100] ^= 1
			l := parseTail(content, "x", false)
			require.NotEmpty(t, l.damage)
			require.Equal(t, joined(groups[1:]), l.rows)
		})
	}
}

// What is behind the last frame is of a time before, and is neither read nor taken for damage.
func TestTailIsWrittenOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x"+extension)
	tail, err := createTail(path, pathID(path))
	require.NoError(t, err)
	for _, group := range frames() {
		require.NoError(t, tail.write(group))
	}
	tail.reset()
	for n := range int64(3) {
		group := []row{{kind: rowEvent, n: 7 + n, at: time.UnixMicro(1).UTC(), event: Entry{Kind: ToolCall, Payload: []byte("new")}}}
		require.NoError(t, tail.write(group))
		l, err := readTail(path, pathID(path), false)
		require.NoError(t, err)
		require.Empty(t, l.damage)
		require.Len(t, l.rows, 1+int(n))
		require.Equal(t, group[0], l.rows[n])
	}
	require.NoError(t, tail.close())
	require.Error(t, tail.write(frames()[0]), "a closed one says so")
}

func TestNoTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x"+extension)
	l, err := readTail(path, pathID(path), false)
	require.NoError(t, err)
	require.Equal(t, leftover{}, l)
	require.NoError(t, os.Mkdir(tailOf(path), 0o700))
	l, err = readTail(path, pathID(path), false)
	require.NoError(t, err)
	require.Equal(t, leftover{}, l)
	require.Equal(t, leftover{}, parseTail(make([]byte, 4096), "x", false), "an empty page is what a machine may leave that fails")
}

// Whatever is in a tail, it is told, and it is never the end of the program.
func FuzzTail(f *testing.F) {
	groups := frames()
	groups[2][0].event.Payload = []byte("short")
	content, _ := ends(f, groups)
	f.Add(0, []byte("x"))
	f.Add(tailHead, []byte{0, 0, 0, 1})
	f.Add(tailHead+frameHead, []byte{2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Add(len(content), []byte(tailMagic))
	f.Fuzz(func(t *testing.T, at int, patch []byte) {
		if at < 0 || at > len(content) {
			return
		}
		changed := append(bytes.Clone(content[:at]), append(patch, content[min(len(content), at+len(patch)):]...)...)
		l := parseTail(changed, "x", false)
		sound := parseTail(changed, "x", true)
		require.Empty(t, sound.damage)
		require.LessOrEqual(t, len(sound.rows), len(l.rows))
		if l.damage == "" {
			require.Len(t, sound.rows, len(l.rows))
		}
		rows, err := decodeRows(patch)
		if err == nil {
			for _, r := range rows {
				require.Contains(t, []byte{rowEvent, rowOutput}, r.kind)
				require.GreaterOrEqual(t, r.n, int64(0))
			}
		}
	})
}

func BenchmarkTail(b *testing.B) {
	for _, size := range []int{500, 4 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			tail, err := createTail(filepath.Join(b.TempDir(), "x"+extension), "x")
			require.NoError(b, err)
			group := []row{{kind: rowEvent, n: 1, at: time.Now(), event: Entry{Kind: ToolCall, Producer: provider, Payload: make([]byte, size)}}}
			b.SetBytes(int64(size))
			for b.Loop() {
				if tail.at > tailLimit {
					tail.reset()
				}
				if err := tail.write(group); err != nil {
					b.Fatal(err)
				}
			}
			require.NoError(b, tail.close())
		})
	}
}

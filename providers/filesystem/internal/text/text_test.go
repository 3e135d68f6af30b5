package text

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDetect(t *testing.T) {
	for _, tt := range []struct {
		name, head string
		want       Format
	}{
		{"empty", "", Narrow},
		{"plain", "hello", Narrow},
		{"mark of UTF-8", "\xef\xbb\xbfx", NarrowBOM},
		{"half a mark", "\xef\xbb", Narrow},
		{"little endian", "\xff\xfeh\x00", UTF16LE},
		{"big endian", "\xfe\xff\x00h", UTF16BE},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, Detect([]byte(tt.head))) })
	}
}

func TestBinaryType(t *testing.T) {
	for _, tt := range []struct{ name, head, want string }{
		{"text", "package main\n", ""},
		{"archive", "PK\x03\x04\x00\x00\x00\x00", "application/zip"},
		{"image", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "image/png"},
		{"text that begins like a bitmap", "BM is short for benchmark\n", ""},
		{"text that begins like a program", "MZ\n", ""},
		{"long text that begins like a program", "MZ" + strings.Repeat("\u65e5", SniffLen)[:SniffLen-2], ""},
		{"text with NULs later", "first\n\x00\x00\x00", ""},
		{"legacy text", "caf\xe9\n", ""},
		{"UTF-16", "\xff\xfeh\x00i\x00", ""},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, BinaryType([]byte(tt.head))) })
	}
}

func TestEveryLegacyByteHasItsOwnCharacter(t *testing.T) {
	for i := 0x80; i <= 0xff; i++ {
		r := fromLegacy(byte(i))
		back, ok := toLegacy(r)
		require.True(t, ok, "%x", i)
		require.Equal(t, byte(i), back)
	}
}

func TestEncode(t *testing.T) {
	raw, err := UTF16BE.Encode("aé😀", Census{})
	require.NoError(t, err)
	require.Equal(t, "\x00a\x00\xe9\xd8\x3d\xde\x00", string(raw))

	raw, err = Narrow.Encode("™", Census{Legacy: 1})
	require.NoError(t, err)
	require.Equal(t, "\x99", string(raw))

	raw, err = Narrow.Encode("™", Census{Legacy: 1, Multi: 1})
	require.NoError(t, err)
	require.Equal(t, "™", string(raw))

	_, err = Narrow.Encode("→", Census{Legacy: 1})
	require.ErrorContains(t, err, `'→' does not exist in windows-1252`)
}

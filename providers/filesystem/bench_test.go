package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/sdktest"
)

// bench is a provider in this process and its root: what is measured is the
// operation, the SDK and gRPC without a socket.
func bench(b *testing.B) (h *sdktest.Harness, root string) {
	b.Helper()
	root = b.TempDir()
	h = sdktest.Start(b, provider(), args{"allowed_roots": []any{root}, "max_result_bytes": maxResult})
	h.Dir = root
	return h, root
}

func run(b *testing.B, h *sdktest.Harness, operation string, a args) {
	if got := h.Call(b.Context(), operation, a); got.Err != nil {
		b.Fatal(got.Err)
	}
}

func BenchmarkReadFile(b *testing.B) {
	for _, size := range []int{4 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			h, root := bench(b)
			body := strings.Repeat("thirty-one bytes and a newline\n", size/31)
			require.NoError(b, os.MkdirAll(filepath.Join(root, "a/b/c"), 0o755))
			require.NoError(b, os.WriteFile(filepath.Join(root, "a/b/c/f"), []byte(body), 0o644))
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				run(b, h, "read_file", args{"path": "a/b/c/f", "limit": 1 << 20})
			}
		})
	}
}

func BenchmarkReadLineOfHugeFile(b *testing.B) {
	h, root := bench(b)
	name := filepath.Join(root, "big")
	require.NoError(b, os.WriteFile(name, []byte("first\n"), 0o644))
	require.NoError(b, os.Truncate(name, 2<<30))
	for b.Loop() {
		run(b, h, "read_file", args{"path": "big", "limit": 1})
	}
}

// BenchmarkReadLineInside is one line far inside a file, beside what reading up
// to it and counting its lines takes.
func BenchmarkReadLineInside(b *testing.B) {
	const line = "thirty-one bytes and a newline\n"
	h, root := bench(b)
	name := filepath.Join(root, "large")
	require.NoError(b, os.WriteFile(name, []byte(strings.Repeat(line, 64<<20/len(line))), 0o644))
	half := 32 << 20 / len(line)
	b.Run("call", func(b *testing.B) {
		for b.Loop() {
			run(b, h, "read_file", args{"path": "large", "offset": half, "limit": 1})
		}
	})
	b.Run("floor", func(b *testing.B) {
		buf := make([]byte, 256<<10)
		for b.Loop() {
			f, err := os.Open(name)
			require.NoError(b, err)
			for left := half; left > 0; {
				n, err := f.Read(buf)
				require.NoError(b, err)
				left -= bytes.Count(buf[:n], []byte{'\n'})
			}
			require.NoError(b, f.Close())
		}
	})
}

func BenchmarkEditFile(b *testing.B) {
	for _, size := range []int{4 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			h, root := bench(b)
			body := "first\n" + strings.Repeat("thirty-one bytes and a newline\n", size/31)
			require.NoError(b, os.WriteFile(filepath.Join(root, "f"), []byte(body), 0o644))
			run(b, h, "read_file", args{"path": "f"})
			from, to := "first\n", "second\n"
			for b.Loop() {
				run(b, h, "edit_file", args{"path": "f", "old_string": from, "new_string": to})
				from, to = to, from
			}
		})
	}
}

func BenchmarkWriteFile(b *testing.B) {
	h, _ := bench(b)
	body := strings.Repeat("thirty-one bytes and a newline\n", 1<<20/31)
	b.SetBytes(int64(len(body)))
	for i := 0; b.Loop(); i++ {
		run(b, h, "write_file", args{"path": "f", "content": fmt.Sprint(i, "\n") + body})
	}
}

// BenchmarkReplace is the least that an atomic write of 4 KiB can cost here.
func BenchmarkReplace(b *testing.B) {
	dir := b.TempDir()
	body := make([]byte, 4<<10)
	for b.Loop() {
		f, err := os.CreateTemp(dir, "")
		require.NoError(b, err)
		_, err = f.Write(body)
		require.NoError(b, err)
		require.NoError(b, f.Sync())
		require.NoError(b, f.Close())
		require.NoError(b, os.Rename(f.Name(), filepath.Join(dir, "f")))
	}
}

func BenchmarkListDirectory(b *testing.B) {
	h, root := bench(b)
	for i := range 10_000 {
		require.NoError(b, os.WriteFile(filepath.Join(root, fmt.Sprint(i)), nil, 0o644))
	}
	for b.Loop() {
		run(b, h, "list_directory", args{"limit": 10_000})
	}
}

// BenchmarkResolve is the cost of finding out where a path leads.
func BenchmarkResolve(b *testing.B) {
	for _, depth := range []int{1, 4, 8} {
		b.Run(fmt.Sprint(depth), func(b *testing.B) {
			root := b.TempDir()
			name := filepath.Join(root, strings.Repeat("d/", depth-1))
			require.NoError(b, os.MkdirAll(name, 0o755))
			c := config{AllowedRoots: []string{root}, MaxResult: 51200, Deny: []string{".env", "*.key"}}
			require.NoError(b, setup(b.Context(), &c, sdk.Env{}))
			defer func() { require.NoError(b, c.files.close()) }()
			for b.Loop() {
				if _, err := c.files.files.Resolve(filepath.Join(name, "f")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

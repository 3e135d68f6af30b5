package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/sdk"
)

// BenchmarkHandler is what an operation itself takes of a call, without the SDK
// and what carries it.
func BenchmarkHandler(b *testing.B) {
	root := b.TempDir()
	c := config{AllowedRoots: []string{root}, Deny: []string{".env", ".env.*", "!.env.example", "id_rsa", "*.pem", "*.key"}, MaxResult: maxResult}
	require.NoError(b, setup(b.Context(), &c, sdk.Env{}))
	defer func() { require.NoError(b, c.files.close()) }()
	call := &sdk.Call[config]{Config: &c, Dir: root, SessionID: "s"}

	const line = "thirty-one bytes and a newline\n"
	for name, body := range map[string]string{
		"a/b/c/small": strings.Repeat(line, (4<<10)/len(line)), "a/b/c/large": strings.Repeat(line, (1<<20)/len(line)),
	} {
		require.NoError(b, os.MkdirAll(filepath.Join(root, "a/b/c"), 0o755))
		require.NoError(b, os.WriteFile(filepath.Join(root, name), []byte("first\n"+body), 0o644))
	}
	// many makes 10,000 files, so many in a directory.
	many := func(name string, each int) func() {
		return sync.OnceFunc(func() {
			for i := range 10_000 {
				dir := filepath.Join(root, name, fmt.Sprint(i/each))
				require.NoError(b, os.MkdirAll(dir, 0o755))
				require.NoError(b, os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".go")), nil, 0o644))
			}
		})
	}
	list, tree := many("list", 10_000), many("tree", 100)
	from, to := "first\n", "second\n"
	edit := func(path string) error {
		in := editIn{Path: path, OldString: &from, NewString: &to}
		_, err := editFile(b.Context(), call, in)
		from, to = to, from
		return err
	}
	for _, op := range []struct {
		name string
		do   func() error
	}{
		{"read4k", func() error {
			_, err := readFile(b.Context(), call, readIn{Path: "a/b/c/small", Offset: 1, Limit: 1 << 20})
			return err
		}},
		{"read1m", func() error {
			_, err := readFile(b.Context(), call, readIn{Path: "a/b/c/large", Offset: 1, Limit: 1 << 20})
			return err
		}},
		{"stat", func() error {
			_, err := stat(b.Context(), call, statIn{Path: "a/b/c/small"})
			return err
		}},
		{"list10k", func() error {
			list()
			_, err := listDirectory(b.Context(), call, listIn{Path: "list/0", Depth: 1, Limit: 10_000})
			return err
		}},
		{"tree10k", func() error {
			tree()
			_, err := listDirectory(b.Context(), call, listIn{Path: "tree", Depth: 10, Limit: 10_000})
			return err
		}},
		{"edit4k", func() error { return edit("a/b/c/small") }},
		{"edit1m", func() error { return edit("a/b/c/large") }},
	} {
		b.Run(op.name, func(b *testing.B) {
			b.ReportAllocs()
			require.NoError(b, op.do())
			require.NoError(b, op.do())
			for b.Loop() {
				require.NoError(b, op.do())
			}
			if from != "first\n" {
				require.NoError(b, op.do())
			}
		})
	}
}

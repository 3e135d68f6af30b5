package assistant

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write the golden files anew")

func example() Entry {
	return Entry{Name: "agent", Command: "/opt/agent/bin/agent", Args: []string{"-C", "/home/me/src/app", "mcp"}}
}

// Files as they are found, before and after.
func TestEdit(t *testing.T) {
	paths, err := filepath.Glob("testdata/edits/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			require.NoError(t, err)
			head, _, _ := strings.Cut(string(archive.Comment), ":")
			name, force := strings.CutSuffix(head, " force")
			client := Find(name)
			require.NotNil(t, client, name)
			before := archive.Files[0].Data
			after, err := client.Edit(before, example(), force)
			require.NoError(t, err)
			again, err := client.Edit(after, example(), false)
			require.NoError(t, err)
			require.Equal(t, string(after), string(again), "a second time changes nothing")
			if *update {
				archive.Files[1].Data = after
				require.NoError(t, os.WriteFile(path, txtar.Format(archive), 0o644))
			}
			require.Equal(t, string(archive.Files[1].Data), string(after))
			if strings.HasSuffix(path, "_present.txtar") {
				require.Equal(t, string(before), string(after))
			}
		})
	}
}

// What is not understood is not edited.
func TestEditRefuses(t *testing.T) {
	for _, test := range []struct{ name, client, content, want string }{
		{"no JSON", "claude", "{\n  \"a\": 1,\n  \"b\": oops\n}\n", "line 3: it is not JSON: "},
		{"half a file", "vscode", "{\n  \"servers\": {", "line 2: it is not JSON: "},
		{"a comment that does not end", "vscode", "{} /* ", "it is not JSON: "},
		{"two values", "claude", "{} {}", "it is not JSON: "},
		{"no object", "claude", "[]", "it holds no JSON object"},
		{"servers are a list", "claude", `{"mcpServers": []}`, "mcpServers is not a JSON object"},
		{"servers are null", "claude", `{"mcpServers": null}`, "mcpServers is not a JSON object"},
		{"servers twice", "claude", `{"mcpServers": {}, "mcp\u0053ervers": {"a": {}}}`, `"mcpServers" is in it twice`},
		{"the name twice", "claude", `{"mcpServers": {"agent": {}, "agent": {}}}`, `"agent" is in it twice`},
		{"another server", "gemini", `{"mcpServers": {"agent": {"command": "x", "args": ["y", 1]}}}`, `it has another server "agent": "x" "y" "1"`},
		{"one over HTTP", "claude", `{"mcpServers": {"agent": {"type": "http", "url": "http://127.0.0.1:1"}}}`, `it has another server "agent": "http://127.0.0.1:1"`},
		{"a server that is none", "claude", `{"mcpServers": {"agent": 7}}`, `it has another server "agent": one without a command`},
		{"no TOML", "codex", "a = 1\nb = \n", "line 2: it is not TOML: "},
		{"the same key twice", "codex", "a = 1\na = 2\n", "it is not TOML: "},
		{"a table in one line", "codex", "mcp_servers = { docs = { command = \"x\" } }\n", "mcp_servers is written in a way that cannot be added to"},
		{"no table", "codex", "mcp_servers = 1\n", "mcp_servers is not a table"},
		{"another one in TOML", "codex", "[mcp_servers.agent]\nurl = \"https://example.com\"\n", `it has another server "agent": "https://example.com"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			after, err := Find(test.client).Edit([]byte(test.content), example(), false)
			require.ErrorContains(t, err, test.want)
			require.Nil(t, after)
		})
	}
}

// A dotted key cannot be taken out of what is around it: that is said, and nothing is done.
func TestForceHasLimits(t *testing.T) {
	after, err := Find("codex").Edit([]byte("mcp_servers.agent.command = \"x\"\n"), example(), true)
	require.ErrorContains(t, err, "put the entry in by hand")
	require.Nil(t, after)
}

func TestEditKeepsLineEndsAndMark(t *testing.T) {
	for client, content := range map[string]string{
		"claude": "\xef\xbb\xbf{\r\n  \"a\": 1 // one\r\n}\r\n",
		"codex":  "\xef\xbb\xbf# c\r\na = 1\r\n",
	} {
		after, err := Find(client).Edit([]byte(content), example(), false)
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(after, []byte("\xef\xbb\xbf")))
		require.Equal(t, bytes.Count(after, []byte("\n")), bytes.Count(after, []byte("\r\n")), "%q", after)
	}
}

// Whatever stands in a path comes back out of the file.
func TestAnyPath(t *testing.T) {
	e := Entry{Name: "agent", Command: `C:\Program Files\agent's "own"\agent.exe`, Args: []string{"-C", "/tmp/a\tb\n\x01\x7f😀<&>\u2028", "", "mcp"}}
	for _, client := range Clients() {
		t.Run(client.Name, func(t *testing.T) {
			after, err := client.Edit(nil, e, false)
			require.NoError(t, err)
			again, err := client.Edit(after, e, false)
			require.NoError(t, err, "%s", after)
			require.Equal(t, string(after), string(again))
		})
	}
	_, err := Clients()[0].Edit(nil, Entry{Name: "agent", Command: "/tmp/\xff"}, false)
	require.ErrorContains(t, err, "not UTF-8")
	for _, name := range []string{"", "a b", "a.b", "-a", "a_b", strings.Repeat("a", 33)} {
		_, err = Clients()[0].Edit(nil, Entry{Name: name, Command: "/agent"}, false)
		require.ErrorContains(t, err, "is no name for a server", name)
	}
}

// Whatever is accepted says what it said before, and the entry; what is refused comes back as nothing.
func FuzzEdit(f *testing.F) {
	paths, _ := filepath.Glob("testdata/edits/*.txtar")
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		require.NoError(f, err)
		f.Add(archive.Files[0].Data, true)
		f.Add(archive.Files[1].Data, false)
	}
	f.Add([]byte("{\"servers\":{\"agent\":{},},}\r"), true)
	f.Add([]byte("[[mcp_servers.agent]]\n[mcp_servers]\n"), true)
	f.Fuzz(func(t *testing.T, content []byte, force bool) {
		for _, client := range Clients() {
			given := bytes.Clone(content)
			after, err := client.Edit(content, example(), force)
			require.Equal(t, given, content, "what was given is not written to")
			if err != nil {
				require.Nil(t, after)
				continue
			}
			checkEdit(t, client, content, after, force)
		}
	})
}

func checkEdit(t *testing.T, client *Client, before, after []byte, force bool) {
	t.Helper()
	var key string
	decode := decodedJSON
	switch f := client.format.(type) {
	case jsonFormat:
		key = f.key
	case tomlFormat:
		key, decode = f.key, decodedTOML
	}
	was := map[string]any{}
	var err error
	if body := parted(before).body; len(bytes.TrimSpace(body)) > 0 {
		was, err = decode(body)
		require.NoError(t, err)
	}
	now, err := decode(parted(after).body)
	require.NoError(t, err)
	require.True(t, example().is(now[key].(map[string]any)["agent"]))
	require.Equal(t, without(was, key, "agent"), without(now, key, "agent"))
	if !force {
		require.True(t, within(before, after), "text went away, such as a comment: %q", after)
	}
	again, err := client.Edit(after, example(), false)
	require.NoError(t, err)
	require.Equal(t, string(after), string(again))
}

// within reports whether a text is what is left of another when some of that is taken out, but for white space.
func within(text, of []byte) bool {
	white := func(b byte) bool { return bytes.IndexByte([]byte(" \t\r\n"), b) >= 0 }
	for _, b := range of {
		for len(text) > 0 && white(text[0]) {
			text = text[1:]
		}
		if len(text) > 0 && text[0] == b {
			text = text[1:]
		}
	}
	return len(bytes.TrimSpace(text)) == 0
}

// The documentation shows what is written.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/mcp.md")
	require.NoError(t, err)
	for _, client := range Clients() {
		require.Contains(t, string(page), "--client "+client.Name)
		require.Contains(t, string(page), "    "+strings.ReplaceAll(client.Snippet(example()), "\n", "\n    ")+"\n", client.Name)
	}
}

// An entry of agent's own for the same folder is replaced without force; what somebody has added to it is not lost.
func TestOwnEntryIsReplaced(t *testing.T) {
	own := example()
	own.Args = append(own.Args, "--approve", "filesystem.*")
	own.Command = `C:\Program Files\agent.exe`
	elsewhere := example()
	elsewhere.Args = []string{"-C", "/home/me/src/other", "mcp"}
	stranger := example()
	stranger.Command = "/usr/bin/npx"
	for _, name := range []string{"claude", "vscode", "codex"} {
		client := Find(name)
		edited := func(there Entry) (string, error) {
			before, err := client.Edit(nil, there, false)
			require.NoError(t, err)
			after, err := client.Edit(before, example(), false)
			return string(after), err
		}
		after, err := edited(own)
		require.NoError(t, err, name)
		fresh, err := client.Edit(nil, example(), false)
		require.NoError(t, err)
		require.Equal(t, string(fresh), after, name)
		var taken *OtherError
		for _, there := range []Entry{elsewhere, stranger} {
			_, err = edited(there)
			require.ErrorAs(t, err, &taken, name)
		}
	}
	_, err := Find("claude").Edit([]byte(`{"mcpServers": {"agent": {"command": "agent", "args": ["-C", "/home/me/src/app", "mcp", "--yes"], "env": {"A": "b"}}}}`), example(), false)
	var taken *OtherError
	require.ErrorAs(t, err, &taken)
}

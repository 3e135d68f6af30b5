package cli

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/lineedit"
	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/agentco/agent/kernel/internal/secret"
	"github.com/agentco/agent/kernel/internal/words"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// testCompleter has two providers with tools and a command, and a folder with files.
func testCompleter(t *testing.T) *completer {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"plain.txt", "with blank.txt", "with blank/inner.txt", "it's.txt", "not\xffutf8.txt", ".hidden", "日本/語.txt"} {
		path := filepath.Join(dir, "with", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o644))
	}
	require.NoError(t, os.Symlink("with", filepath.Join(dir, "link")))
	text := &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_STRING, Description: "A path.\nMore of it."}
	input := &schemav1.Schema{Required: []string{"path"}, Properties: map[string]*schemav1.Schema{
		"path": text, "paths": {Type: schemav1.SchemaType_SCHEMA_TYPE_ARRAY, Items: text},
		"mode":  {Type: schemav1.SchemaType_SCHEMA_TYPE_STRING, EnumValues: []string{"content", "count"}},
		"quiet": {Type: schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN}, "limit": {Type: schemav1.SchemaType_SCHEMA_TYPE_NUMBER},
	}}
	command := &schemav1.Schema{Required: []string{"level"}, Properties: map[string]*schemav1.Schema{
		"level": {Type: schemav1.SchemaType_SCHEMA_TYPE_STRING, EnumValues: []string{"major", "minor"}},
	}}
	tool := commonv1.Category_CATEGORY_TOOL
	return &completer{dir: dir, operations: []engine.Operation{
		{Provider: "bash", Category: tool, Name: "run"},
		{Provider: "files", Category: tool, Name: "read", Input: input, Description: "Read a file.\nAll of it."},
		{Provider: "files", Category: tool, Name: "remove", Input: input},
		{Provider: "notes", Category: commonv1.Category_CATEGORY_SLASHCOMMAND, Name: "release", Input: command},
	}}
}

func TestComplete(t *testing.T) {
	c := testCompleter(t)
	tests := []struct {
		name, text string // the cursor is at |, or at the end
		want       []string
	}{
		{"everything", "", []string{"bash.", "files.", "/release ", "help ", "tools ", "history ", "reload ", "exit ", "quit "}},
		{"of one provider", "f", []string{"files.read ", "files.remove "}},
		{"of a provider", "files.rem", []string{"files.remove "}},
		{"a name without its provider", "rem", []string{"files.remove "}},
		{"a command without its slash, and a word of the shell's", "rel", []string{"/release ", "reload "}},
		{"commands", "/", []string{"/release "}},
		{"topic", "help files.re", []string{"files.read ", "files.remove "}},
		{"one topic", "help files.read ", nil},
		{"nothing follows", "history ", nil},
		{"arguments, the required ones first", "files.read ", []string{"path=", "limit=", "mode=", "paths=", "quiet="}},
		{"arguments that begin so", "files.read p", []string{"path=", "paths="}},
		{"arguments that are left", "files.read path=x mode=count paths=y ", []string{"limit=", "paths=", "quiet="}},
		{"in the middle", "files.read p| mode=count", []string{"path=", "paths="}},
		{"enum", "files.read mode=co", []string{"mode=content ", "mode=count "}},
		{"boolean", "files.read quiet=", []string{"quiet=true ", "quiet=false "}},
		{"a number is not known", "files.read limit=", nil},
		{"no such argument", "files.read pth=", nil},
		{"no such tool", "files.reed ", nil},
		{"flags", "files.read --", []string{"--args=", "--timeout=", "--markdown "}},
		{"a file of arguments", "files.read --args=@with/p", []string{"--args=@with/plain.txt "}},
		{"folders, and links to some", "files.read path=", []string{"path=link/", "path=with/"}},
		{"a file", "files.read path=with/pl", []string{"path=with/plain.txt "}},
		{"through a link", "files.read path=link/pl", []string{"path=link/plain.txt "}},
		{"above", "files.read path=with/../with/pl", []string{"path=with/../with/plain.txt "}},
		{"quotes where they are needed", "files.read path=with/w", []string{"path='with/with blank/", "path='with/with blank.txt' "}},
		{"quotes that are open", `files.read path="with/pl`, []string{`path="with/plain.txt" `}},
		{"around a quote", "files.read path=with/i", []string{`path='with/it'\''s.txt' `}},
		{"in a folder with a blank", "files.read path='with/with blank/", []string{"path='with/with blank/inner.txt' "}},
		{"wide characters", "files.read path=with/日", []string{"path=with/日本/"}},
		{"hidden", "files.read path=with/.", []string{"path=with/.hidden "}},
		{"not hidden", "files.read path=with/", []string{"path='with/it'\\''s.txt' ", "path='with/plain.txt' ", "path='with/with blank/", "path='with/with blank.txt' ", "path='with/日本/"}},
		{"in a list", "files.read paths=a paths=with/pl", []string{"paths=with/plain.txt "}},
		{"no such folder", "files.read path=nowhere/", nil},
		{"a value without its name", "/release m", []string{"major ", "minor "}},
		{"another line", "history\nfiles.rem", []string{"files.remove "}},
		{"a comment", "# files.r", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, behind, _ := strings.Cut(tt.text, "|")
			got := c.complete(before+behind, len(before))
			var texts []string
			for _, choice := range got.Choices {
				texts = append(texts, choice.Text)
			}
			require.Equal(t, tt.want, texts)
		})
	}
}

func TestCompleteDescribes(t *testing.T) {
	c := testCompleter(t)
	require.Equal(t, lineedit.Choice{Text: "bash.", Label: "bash.", Description: "1 tool"}, c.complete("", 0).Choices[0])
	require.Equal(t, lineedit.Choice{Text: "files.read ", Label: "files.read", Description: "Read a file."}, c.complete("files.", 6).Choices[0])
	require.Equal(t, lineedit.Choice{Text: "path=", Label: "path=", Description: "A path."}, c.complete("files.read ", 11).Choices[0])
	got := c.complete("files.read path='with/with blank/in", len("files.read path='with/with blank/in"))
	require.Equal(t, lineedit.Choice{Text: "path='with/with blank/inner.txt' ", Label: "inner.txt"}, got.Choices[0])
	require.Equal(t, len("files.read "), got.From)
}

// Whatever is offered is one word once it is typed, and begins with what was typed, or has it behind a name.
func FuzzComplete(f *testing.F) {
	for _, text := range []string{"", "files.read path='with/w", `files.read path="with/`, "files.read 'path=with/i", "rel", "files.read --ar"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := testCompleter(t)
		got := c.complete(text, len(text))
		require.LessOrEqual(t, got.From, len(text))
		for _, choice := range got.Choices {
			written := text[:got.From] + choice.Text
			p, ok := words.Unfinished(written)
			require.True(t, ok)
			if strings.HasSuffix(choice.Text, " ") {
				require.Empty(t, p.Word.Text, written)
				require.Zero(t, p.Quote)
			}
		}
	})
}

func TestSystemCommands(t *testing.T) {
	resource := toolv1.ToolKind_TOOL_KIND_RESOURCE
	ops := append(testCompleter(t).operations, engine.Operation{
		Provider: "bash", Category: commonv1.Category_CATEGORY_TOOL, Name: "bash", Kind: resource, Input: &schemav1.Schema{Required: []string{"command"}},
	})
	tests := []struct{ name, typed, want string }{
		{"one word", "sh", "none; a command of the system is run as in bash.bash command=sh"},
		{"several", "sh -c 'echo $HOME' | cat", `none; a command of the system is run as in bash.bash command='sh -c '\''echo $HOME'\'' | cat'`},
		{"none", "no-such-command -x", "none"},
		{"a path", "/bin/sh", "none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines, err := words.Split(tt.typed)
			require.NoError(t, err)
			require.EqualError(t, asCommand(ops, lines[0], &engine.LookupError{Text: "none"}), tt.want)
			if _, suggested, found := strings.Cut(tt.want, " as in "); found {
				lines, err := words.Split(suggested)
				require.NoError(t, err)
				require.Equal(t, "command="+tt.typed, lines[0][1].Text)
			}
		})
	}
	meant := &engine.LookupError{Text: "none", Suggestion: "files.read"}
	require.Equal(t, error(meant), asCommand(ops, words.Line{{Text: "sh"}}, meant))
}

func TestPoint(t *testing.T) {
	tests := []struct {
		name, text string
		word       string
		width      int
		want       string
	}{
		{"a word", "tool a b", "a", 40, "  tool a b\n       ^"},
		{"wide characters before it", "道具 日本", "日本", 40, "  道具 日本\n       ^^^^"},
		{"in a row of several", "one\ntwo bad", "bad", 40, "  two bad\n      ^^^"},
		{"that goes over rows", "a 'x\ny'", "'x\ny'", 40, "  a 'x\n    ^^"},
		{"a control character", "a \x1b[2Jb", "\x1b[2Jb", 40, "  a ␛[2Jb\n    ^^^^^"},
		{"far to the right", strings.Repeat("x", 50) + " bad", "bad", 30, "  …bad\n   ^^^"},
		{"too long for the window", "a " + strings.Repeat("x", 50), strings.Repeat("x", 50), 20, "  …xxxxxxxxxxxxxx…\n   ^^^^^^^^^^^^^^^"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			from := strings.LastIndex(tt.text, tt.word)
			require.Equal(t, tt.want, point(tt.text, from, from+len(tt.word), paint.Painter{Width: tt.width}))
		})
	}
}

func TestWhatIsRemembered(t *testing.T) {
	secrets := &secret.Set{}
	secrets.Hide("s3cr3t-value")
	tests := []struct {
		name, text string
		kept       bool
	}{
		{"a line", "files.read path=token.txt", true},
		{"a blank before it", " files.read path=x", false},
		{"a value of the configuration that is secret", "bash.run command='curl -H s3cr3t-value'", false},
		{"an argument that is a secret by its name", "x.login user=me password=hunter2", false},
		{"in other letters", "x.login API-Key=1", false},
		{"within JSON", `x.login --args '{"auth": {"token": "1"}}'`, false},
		{"within JSON, joined", `x.login --args={"client_secret":1}`, false},
		{"in the second row", "history\nx.login token=1", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			history := &lineedit.History{}
			sh := &shell{app: &app{secrets: secrets}, history: history}
			lines, err := words.Split(tt.text)
			require.NoError(t, err)
			sh.remember(tt.text, lines)
			require.Equal(t, tt.kept, len(history.Lines()) == 1)
		})
	}
}

func TestGather(t *testing.T) {
	rows := []string{"a \\\n", "'b\n", "c'\n", "next\n"}
	got, err := gather(func(more bool) (string, error) {
		row := rows[0]
		rows = rows[1:]
		return row, nil
	})
	require.NoError(t, err)
	require.Equal(t, "a \\\n'b\nc'\n", got)
	over := errors.New("over")
	_, err = gather(func(bool) (string, error) { return "'half", over })
	require.ErrorIs(t, err, over)
}

// A script is read in time that its length explains, and in memory that a line may take.
func TestScriptLines(t *testing.T) {
	long := "a 'first\n" + strings.Repeat("it \\ goes \"on\"\n", 100_000) + "end'\n"
	in := &scriptInput{reader: bufio.NewReader(strings.NewReader(long + "next\n" + strings.Repeat("x", scriptLimit+1) + "\nnever\n"))}
	got, err := in.next(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, long, got)
	got, err = in.next(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, "next\n", got)
	_, err = in.next(t.Context(), "")
	require.ErrorContains(t, err, "a line is longer than 16 MiB")
	require.Equal(t, exitUsage, exitCode(err))
	_, err = (&scriptInput{reader: bufio.NewReader(strings.NewReader("'" + strings.Repeat(strings.Repeat("x", 1023)+"\n", scriptLimit>>10)))}).next(t.Context(), "")
	require.ErrorContains(t, err, "a line is longer than 16 MiB")
}

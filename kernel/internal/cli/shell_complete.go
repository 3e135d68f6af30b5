package cli

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/lineedit"
	"github.com/agentco/agent/kernel/internal/words"
	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
)

// completer offers what can be typed next. It starts nothing and writes nothing.
type completer struct {
	operations []engine.Operation
	// dir is what relative paths are read against.
	dir string
}

// candidate is a word, or the beginning of one, that could stand at the cursor.
type candidate struct {
	text        string
	label       string // how it is listed; the text when empty
	description string
	more        bool // something can follow in the same word
}

// complete offers what may stand at byte at of a text.
func (c *completer) complete(text string, at int) lineedit.Completions {
	typed, ok := words.Unfinished(text[:at])
	if !ok {
		return lineedit.Completions{}
	}
	return quoted(typed, c.candidates(typed.Words, typed.Word.Text))
}

// quoted writes candidates as they have to be typed: all with the same quotes, those that are begun or those that one
// of them needs.
func quoted(typed words.Partial, candidates []candidate) lineedit.Completions {
	quote := typed.Quote
	if quote == 0 && slices.ContainsFunc(candidates, func(c candidate) bool { return words.NeedsQuotes(c.text) }) {
		quote = '\''
	}
	out := lineedit.Completions{From: typed.Word.From}
	for _, c := range candidates {
		choice := lineedit.Choice{Text: c.text, Label: c.label, Description: c.description}
		if choice.Label == "" {
			choice.Label = c.text
		}
		if quote != 0 {
			choice.Text = openValue(c.text, quote)
			if !c.more {
				choice.Text += string(quote)
			}
		}
		if !c.more {
			choice.Text += " "
		}
		out.Choices = append(out.Choices, choice)
	}
	return out
}

// openValue quotes what stands behind NAME=, which looks better than quotes around both.
func openValue(text string, quote byte) string {
	name, value, pair := strings.Cut(text, "=")
	if pair && isName(strings.TrimPrefix(name, "--")) {
		return name + "=" + words.Open(value, quote)
	}
	return words.Open(text, quote)
}

// candidates are those for a word behind others.
func (c *completer) candidates(before words.Line, word string) []candidate {
	if len(before) == 0 {
		return c.first(word)
	}
	first := before[0].Text
	for _, own := range ownWords() {
		if own.name == first {
			if !own.argument || len(before) > 1 {
				return nil
			}
			return c.named(word)
		}
	}
	for _, op := range c.operations {
		if called(op, first) && (op.String() == first || op.IsCommand()) {
			return c.arguments(op, before[1:], word)
		}
	}
	return nil
}

// first are the candidates for what is to be done.
func (c *completer) first(word string) []candidate {
	found := c.named(word)
	for _, own := range ownWords() {
		if strings.HasPrefix(own.name, word) {
			found = append(found, candidate{text: own.name, description: own.summary})
		}
	}
	return found
}

// named are the operations whose name a word begins, or their providers as long as there are several to choose from;
// else the operations whose name without what stands before it begins so.
func (c *completer) named(word string) []candidate {
	if ops := only(c.operations, func(op engine.Operation) bool { return strings.HasPrefix(op.String(), word) }); len(ops) > 0 {
		if strings.Contains(word, ".") {
			return asCandidates(ops)
		}
		return c.byProvider(ops)
	}
	return asCandidates(only(c.operations, func(op engine.Operation) bool { return strings.HasPrefix(op.Name, word) }))
}

// byProvider are commands, and tools as long as all of them are of one provider; else the providers of the tools.
func (c *completer) byProvider(ops []engine.Operation) []candidate {
	tools := map[string]int{}
	for _, op := range ops {
		if !op.IsCommand() {
			tools[op.Provider]++
		}
	}
	if len(tools) < 2 {
		return asCandidates(ops)
	}
	var found []candidate
	for _, provider := range slices.Sorted(maps.Keys(tools)) {
		found = append(found, candidate{text: provider + ".", description: count(tools[provider], "tool", "tools"), more: true})
	}
	return append(found, asCandidates(only(ops, engine.Operation.IsCommand))...)
}

func asCandidates(ops []engine.Operation) []candidate {
	var found []candidate
	for _, op := range ops {
		summary, _, _ := strings.Cut(op.Description, "\n")
		found = append(found, candidate{text: op.String(), description: summary})
	}
	return found
}

// callFlagNames are the flags of a call in a shell.
var callFlagNames = []candidate{
	{text: "--args=", description: "the arguments as a JSON object, or @FILE", more: true},
	{text: "--timeout=", description: "how long the call may take, such as 90s", more: true},
	{text: "--markdown", description: "show the result as Markdown"},
}

// arguments are the candidates for an argument of a call.
func (c *completer) arguments(op engine.Operation, given words.Line, word string) []candidate {
	if file, ok := strings.CutPrefix(word, "--args=@"); ok {
		return c.paths("--args=@", file)
	}
	name, value, pair := strings.Cut(word, "=")
	if property := op.Input.GetProperties()[name]; pair && property != nil {
		return c.values(name+"=", property, value)
	}
	var found []candidate
	if strings.HasPrefix(word, "-") {
		for _, f := range callFlagNames {
			if strings.HasPrefix(f.text, word) {
				found = append(found, f)
			}
		}
		return found
	}
	used := map[string]bool{}
	for _, w := range given {
		name, _, _ := strings.Cut(w.Text, "=")
		used[name] = op.Input.GetProperties()[name].GetType() != schemav1.SchemaType_SCHEMA_TYPE_ARRAY
	}
	for _, name := range argumentNames(op.Input) {
		if !used[name] && strings.HasPrefix(name, word) {
			summary, _, _ := strings.Cut(op.Input.GetProperties()[name].GetDescription(), "\n")
			found = append(found, candidate{text: name + "=", description: summary, more: true})
		}
	}
	if len(found) == 0 && op.IsCommand() {
		return c.placed(op, used, word)
	}
	return found
}

// placed are the values of a command's first required argument that is not given yet: its name can be left out.
func (c *completer) placed(op engine.Operation, used map[string]bool, word string) []candidate {
	for _, name := range op.Input.GetRequired() {
		if !used[name] {
			return c.values("", op.Input.GetProperties()[name], word)
		}
	}
	return nil
}

// values are the candidates for a value, behind what comes before it in the word.
func (c *completer) values(prefix string, s *schemav1.Schema, value string) []candidate {
	if s.GetType() == schemav1.SchemaType_SCHEMA_TYPE_ARRAY {
		s = s.GetItems()
	}
	choices := s.GetEnumValues()
	switch {
	case s.GetType() == schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN:
		choices = []string{"true", "false"}
	case len(choices) == 0 && s.GetType() == schemav1.SchemaType_SCHEMA_TYPE_STRING:
		return c.paths(prefix, value)
	}
	var found []candidate
	for _, choice := range choices {
		if strings.HasPrefix(choice, value) {
			found = append(found, candidate{text: prefix + choice, label: choice})
		}
	}
	return found
}

// paths are the files and folders that a path begins; hidden ones only for a name that begins with a dot. What no
// argument can name, which is text in UTF-8, is not among them.
func (c *completer) paths(prefix, path string) []candidate {
	folder, name := filepath.Split(path)
	dir := folder
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.dir, folder)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var found []candidate
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), name) || name == "" && strings.HasPrefix(e.Name(), ".") || !utf8.ValidString(e.Name()) {
			continue
		}
		one := candidate{text: prefix + folder + e.Name(), label: e.Name()}
		if isFolder(filepath.Join(dir, e.Name()), e) {
			one.text, one.label, one.more = one.text+"/", one.label+"/", true
		}
		found = append(found, one)
	}
	return found
}

// isFolder also follows a link.
func isFolder(path string, e os.DirEntry) bool {
	if e.Type()&os.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/agentco/agent/kernel/internal/assistant"
	"github.com/agentco/agent/kernel/internal/paint"
)

// What became of an entry, as programs are told.
const (
	installShown   = "shown"
	installPresent = "present"
	installWritten = "written"
)

func (a *app) writeInstallation(i *installation, before, after []byte) error {
	if string(before) == string(after) {
		if a.flags.json {
			a.writeJSON(i.json(installPresent))
			return nil
		}
		a.printf("%s has it already\n", paint.Line(i.short))
		return nil
	}
	mode := fs.FileMode(0o644)
	if i.scope == assistant.User {
		mode = 0o600
	}
	if err := assistant.Replace(i.file, before, after, mode); err != nil {
		return fmt.Errorf("cannot write %s, which is left as it was: %w", i.short, err)
	}
	if a.flags.json {
		a.writeJSON(i.json(installWritten))
		return nil
	}
	a.printf("%s %s\n", a.display.OutPainter().Success("wrote"), paint.Line(i.short))
	a.tellChange(assistant.Changed(before, after))
	a.printf("\n%s\n", i.client.Then)
	return nil
}

func (a *app) tellChange(c assistant.Change) {
	painter := a.display.OutPainter()
	a.printf("%s\n", painter.Dim(fmt.Sprintf("@@ line %d @@", c.Line)))
	if c.Context != "" {
		a.printf("  %s\n", paint.Line(c.Context))
	}
	for _, line := range c.Removed {
		a.printf("%s\n", painter.Error("- "+paint.Line(line)))
	}
	for _, line := range c.Added {
		a.printf("%s\n", painter.Success("+ "+paint.Line(line)))
	}
}

// tellSnippet prints what a person, or a script, can put into the file; what is about it goes to stderr.
func (a *app) tellSnippet(i *installation, present bool, problem error) {
	state := installShown
	if present {
		state = installPresent
	}
	if a.flags.json {
		a.writeJSON(i.json(state))
		return
	}
	a.display.Note(a.display.ErrPainter().Dim(fmt.Sprintf("%s: this goes into %s", i.client.Title, paint.Line(i.short))))
	a.printf("%s\n", i.client.Snippet(i.entry))
	if command := i.command(); command != "" {
		a.display.Note(a.display.ErrPainter().Dim("or run: ") + paint.Line(command))
	}
	var taken *assistant.OtherError
	switch {
	case present:
		a.display.Note("It is there already.")
	case errors.As(problem, &taken):
		a.warn(problem.Error())
	case problem != nil:
		a.warn(fmt.Sprintf("--write could not do it: %s", errors.Unwrap(problem)))
	default:
		a.display.Note("With --write it is put there.")
	}
}

// command is the client's own way to the same, for a shell; empty when it has none.
func (i *installation) command() string {
	words := slices.Clone(i.client.Command(i.entry, i.scope))
	for at, word := range words {
		quoted, err := syntax.Quote(word, syntax.LangBash)
		if err != nil {
			return ""
		}
		words[at] = quoted
	}
	return strings.Join(words, " ")
}

// installationJSON is what `agent mcp install --json` says.
type installationJSON struct {
	Client  string   `json:"client"`
	Scope   string   `json:"scope"`
	File    string   `json:"file"`
	Name    string   `json:"name"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Snippet string   `json:"snippet"`
	State   string   `json:"state"`
}

func (i *installation) json(state string) any {
	return map[string]any{"installation": installationJSON{
		Client: i.client.Name, Scope: string(i.scope), File: i.file, Name: i.entry.Name,
		Command: i.entry.Command, Args: i.entry.Args, Snippet: i.client.Snippet(i.entry), State: state,
	}}
}

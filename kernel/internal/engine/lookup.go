package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentco/agent/kernel/internal/schema"
)

// LookupError says that a name stands for nothing, with what was probably meant.
type LookupError struct {
	// Text says what does not exist and what to do.
	Text string
	// Suggestion is the name that was probably meant, as it has to be typed; it may be empty.
	Suggestion string
}

// Error is the text with the suggestion.
func (e *LookupError) Error() string {
	if e.Suggestion == "" {
		return e.Text
	}
	return fmt.Sprintf("%s (did you mean %q?)", e.Text, e.Suggestion)
}

// Operations lists the tools and commands of all providers, ordered by provider and name, tools first.
func (e *Engine) Operations() []Operation { return slices.Clone(*e.operations.Load()) }

// Lookup finds a tool. The error is a *LookupError.
func (e *Engine) Lookup(provider, tool string) (Operation, error) {
	return e.lookup(e.Operations(), provider, tool)
}

// lookup finds a tool among operations, which are all that its error speaks of.
func (e *Engine) lookup(ops []Operation, provider, tool string) (Operation, error) {
	var tools, providers, everywhere []string
	for _, op := range ops {
		if op.IsCommand() {
			continue
		}
		providers = append(providers, op.Provider)
		everywhere = append(everywhere, op.String())
		if op.Provider == provider {
			if op.Name == tool {
				return op, nil
			}
			tools = append(tools, op.Name)
		}
	}
	if _, err := e.provider(provider); err != nil {
		return Operation{}, &LookupError{Text: err.Error(), Suggestion: dotted(schema.Nearest(provider, providers), tool)}
	}
	if len(tools) == 0 {
		return Operation{}, &LookupError{
			Text:       fmt.Sprintf("provider %q has no tools%s", provider, commandsOf(ops, provider)),
			Suggestion: schema.Nearest(dotted(provider, tool), everywhere),
		}
	}
	return Operation{}, &LookupError{
		Text:       fmt.Sprintf("provider %q has no tool %q: it has %s", provider, tool, strings.Join(tools, ", ")),
		Suggestion: dotted(provider, schema.Nearest(tool, tools)),
	}
}

// LookupCommand finds a slash command by its name, with or without the slash. When several providers have one of that
// name, PROVIDER.NAME says which. The error is a *LookupError.
func (e *Engine) LookupCommand(name string) (Operation, error) {
	return lookupCommand(e.Operations(), name)
}

func lookupCommand(ops []Operation, name string) (Operation, error) {
	name = strings.TrimPrefix(name, "/")
	var found []Operation
	var names []string
	for _, op := range ops {
		if !op.IsCommand() {
			continue
		}
		names = append(names, op.Name)
		if op.Name == name || op.Provider+"."+op.Name == name {
			found = append(found, op)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var choices []string
		for _, op := range found {
			choices = append(choices, "/"+op.Provider+"."+op.Name)
		}
		return Operation{}, &LookupError{Text: fmt.Sprintf("several providers have /%s: say %s", name, strings.Join(choices, " or "))}
	case len(names) == 0:
		return Operation{}, &LookupError{Text: fmt.Sprintf("there is no command /%s: none of the providers that run has commands", name)}
	}
	return Operation{}, &LookupError{
		Text:       fmt.Sprintf("there is no command /%s: there are /%s", name, strings.Join(names, ", /")),
		Suggestion: slashed(schema.Nearest(name, names)),
	}
}

func commandsOf(ops []Operation, provider string) string {
	var names []string
	for _, op := range ops {
		if op.IsCommand() && op.Provider == provider {
			names = append(names, op.String())
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", only commands: " + strings.Join(names, ", ")
}

func sortOperations(ops []Operation) {
	slices.SortFunc(ops, func(a, b Operation) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Category, b.Category), cmp.Compare(a.Name, b.Name))
	})
}

func dotted(provider, tool string) string {
	if provider == "" || tool == "" {
		return ""
	}
	return provider + "." + tool
}

func slashed(name string) string {
	if name == "" {
		return ""
	}
	return "/" + name
}

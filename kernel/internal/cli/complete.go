package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/paint"
	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
)

// patience is how long a person waits for a Tab. What is not known by then is not offered.
const patience = 3 * time.Second

const noFiles = cobra.ShellCompDirectiveNoFileComp

// completeCall offers what invoke, or run, takes: the operation, then the names of its arguments.
func (a *app) completeCall(commands bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		target := word
		if len(args) > 0 {
			target = args[0]
		}
		ops := only(a.offered(providerIn(target)), func(op engine.Operation) bool { return op.IsCommand() == commands })
		if len(args) == 0 {
			return starting(word, operationChoices(ops, word)), noFiles
		}
		for _, op := range ops {
			if op.String() == target || op.IsCommand() && op.Name == target {
				return argumentChoices(op.Input, args[1:], word)
			}
		}
		return nil, noFiles
	}
}

// completeNames offers providers and, with operations, what they have.
func (a *app) completeNames(operations bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, noFiles
		}
		a.display.Silence()
		var choices []cobra.Completion
		if a.enter() == nil {
			if p, err := a.read(); err == nil {
				for _, pr := range p.Providers {
					choices = append(choices, pr.Name)
				}
			}
		}
		if operations {
			choices = append(choices, operationChoices(a.offered(providerIn(word)), word)...)
		}
		return starting(word, choices), noFiles
	}
}

// providerIn is the provider that a word has already named; empty for none.
func providerIn(word string) string {
	provider, _, named := strings.Cut(word, ".")
	if !named || strings.HasPrefix(word, "/") {
		return ""
	}
	return provider
}

// offered are the operations of one provider, or of all. Whatever goes wrong, there is nothing to offer.
func (a *app) offered(provider string) []engine.Operation {
	a.display.Silence()
	if a.enter() != nil {
		return nil
	}
	p, err := a.read()
	if err != nil || provider != "" && p.Provider(provider) == nil {
		return nil
	}
	var names []string
	if provider != "" {
		names = []string{provider}
	}
	ctx, cancel := context.WithTimeout(a.ctx, patience)
	defer cancel()
	e, _ := a.openEngine(ctx, p, true, names...)
	if e == nil {
		return nil
	}
	defer e.Close()
	defer e.Kill() // nothing has been called, so that nothing needs an orderly end
	return only(e.Operations(), p.sees)
}

func starting(word string, choices []cobra.Completion) []cobra.Completion {
	var fit []cobra.Completion
	for _, c := range choices {
		if strings.HasPrefix(c, word) {
			fit = append(fit, c)
		}
	}
	return fit
}

// operationChoices are the names of operations, with the slash of a command left out where it was.
func operationChoices(ops []engine.Operation, word string) []cobra.Completion {
	var choices []cobra.Completion
	for _, op := range ops {
		name := op.String()
		if op.IsCommand() && word != "" && !strings.HasPrefix(word, "/") {
			name = op.Name
		}
		choices = append(choices, described(name, op.Description))
	}
	return choices
}

// argumentChoices are the names of the arguments that can still be given. A value may be a file.
func argumentChoices(s *schemav1.Schema, given []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if strings.Contains(word, "=") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	used := map[string]bool{}
	for _, w := range given {
		name, _, _ := strings.Cut(w, "=")
		used[name] = s.GetProperties()[name].GetType() != schemav1.SchemaType_SCHEMA_TYPE_ARRAY
	}
	var choices []cobra.Completion
	for _, name := range argumentNames(s) {
		if !used[name] {
			choices = append(choices, described(name+"=", s.GetProperties()[name].GetDescription()))
		}
	}
	return starting(word, choices), noFiles | cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveKeepOrder
}

func described(name, text string) cobra.Completion {
	summary, _, _ := strings.Cut(text, "\n")
	return cobra.CompletionWithDesc(name, paint.Line(summary))
}

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/schema"
)

// howTo is the command line that runs an operation, as far as its name.
func howTo(op engine.Operation) string {
	if op.IsCommand() {
		return "agent run " + op.String()
	}
	return "agent invoke " + op.String()
}

// meant are the operations that a person may have meant with a word that stands for none: those of that name, or of
// the provider of that name, else the one whose name is nearest.
func meant(ops []engine.Operation, word string) []engine.Operation {
	if found := only(ops, func(op engine.Operation) bool { return called(op, word) }); len(found) > 0 {
		return found
	}
	if found := only(ops, func(op engine.Operation) bool { return word == op.Provider }); len(found) > 0 {
		return found
	}
	var names []string
	for _, op := range ops {
		names = append(names, op.String(), op.Name)
	}
	near := schema.Nearest(word, names)
	return only(ops, func(op engine.Operation) bool { return near != "" && (near == op.String() || near == op.Name) })
}

// called reports whether a word is a name of an operation, whatever stands before it.
func called(op engine.Operation, word string) bool {
	return word == op.Name || word == "/"+op.Name || word == op.Provider+"."+op.Name
}

func only(ops []engine.Operation, fits func(engine.Operation) bool) []engine.Operation {
	return slices.DeleteFunc(slices.Clone(ops), func(op engine.Operation) bool { return !fits(op) })
}

// mistaken is the error about a word that was taken for what it is not, with what was probably meant, in the form that
// write gives it.
func mistaken(text string, ops []engine.Operation, word string, write func(engine.Operation) string) error {
	switch found := meant(ops, word); len(found) {
	case 0:
		return &engine.LookupError{Text: text}
	case 1:
		return &engine.LookupError{Text: text, Suggestion: write(found[0])}
	default:
		names := make([]string, len(found))
		for i, op := range found {
			names[i] = op.String()
		}
		return &engine.LookupError{Text: fmt.Sprintf("%s; there are %s", text, strings.Join(names, ", "))}
	}
}

// rather is the error about a tool or a command that does not exist, or about it being the other of the two.
func rather(s *engine.Session, word string, command bool, err error) error {
	others := only(s.Operations(), func(op engine.Operation) bool { return op.IsCommand() == command && called(op, word) })
	if len(others) == 0 {
		return err
	}
	text := "%q is a tool, not a command"
	if command {
		text = "%q is a command, not a tool"
	}
	return mistaken(fmt.Sprintf(text, word), others, word, howTo)
}

// notATool is the error about a word that cannot be the name of a tool. What was meant has the form that write gives it.
func (a *app) notATool(word string, write func(engine.Operation) string) error {
	p, err := a.open()
	if err != nil {
		return err
	}
	return mistaken(fmt.Sprintf("%q is not PROVIDER.TOOL: 'agent tools' lists what there is", word), a.everything(p), word, write)
}

// everything is what all providers have; those that are not known and do not start have nothing to add.
func (a *app) everything(p *project) []engine.Operation {
	e, _ := a.prepare(p)
	if e == nil {
		return nil
	}
	defer e.Close()
	return only(e.Operations(), p.sees)
}

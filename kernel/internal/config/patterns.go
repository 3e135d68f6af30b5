package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/agentco/agent/kernel/internal/policy"
)

// argumentGlobs reads the globs that arguments must fit. One that is left out would widen the rule, so that what is
// wrong with any of them is an error.
func (l *loader) argumentGlobs(expr hclsyntax.Expression) (globs map[string]string, at map[string]hcl.Range) {
	cons, ok := expr.(*hclsyntax.ObjectConsExpr)
	if !ok || len(cons.Items) == 0 {
		l.fail(expr.Range(), "Expected globs of arguments", "Write arguments = { path = \"docs/**\" }.")
		return nil, nil
	}
	entries := l.entries(cons, nil)
	globs, at = map[string]string{}, map[string]hcl.Range{}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		v, diags := e.Value(l.scope.globContext())
		if diags.HasErrors() {
			l.diags = append(l.diags, diags...)
			continue
		}
		text, ok := asString(v)
		if !ok {
			l.fail(e.Range(), "Expected a glob", "Write it in double quotes, as in %s = \"docs/**\".", name)
			continue
		}
		if _, err := policy.ParseGlob(text); err != nil {
			l.fail(e.Range(), "Invalid glob "+quoted(text), "%s.", sentence(err))
		}
		globs[name], at[name] = text, e.Range()
	}
	return globs, at
}

// commandPatterns reads the commands that a rule is about.
func (l *loader) commandPatterns(expr hclsyntax.Expression) []string {
	tuple, ok := expr.(*hclsyntax.TupleConsExpr)
	if !ok || len(tuple.Exprs) == 0 {
		l.fail(expr.Range(), "Expected a list of commands", "Write command = [\"go test *\", \"git status\"].")
		return nil
	}
	var patterns []string
	for _, e := range tuple.Exprs {
		text, ok := l.text(e)
		if !ok {
			continue
		}
		if _, err := policy.ParseCommand(text); err != nil {
			l.fail(e.Range(), "Invalid command pattern "+quoted(text), "%s.", sentence(err))
		}
		patterns = append(patterns, text)
	}
	return patterns
}

// checkAllowed refuses an allow that can never be certain.
func (l *loader) checkAllowed(rule policy.Rule, b *block) {
	if rule.Action != policy.Allow {
		return
	}
	for _, text := range rule.Match.Command {
		p, err := policy.ParseCommand(text)
		if why := p.Never(); err == nil && why != "" {
			l.fail(b.Body.Attributes["match"].Expr.Range(), fmt.Sprintf("policy %q can never allow %q", rule.Name, text),
				"%s. Name the program that is to run instead.", capital(why))
		}
	}
}

package config

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// provider evaluates a provider block for what can be wrong with it before its schema is known: an
// unset variable must not wait for the first start of the provider.
func (l *loader) provider(b *block) {
	l.blocks[b.Labels[0]] = b
	for _, inner := range b.Body.Blocks {
		l.fail(inner.DefRange(), "Unexpected block "+quoted(inner.Type), "A provider block holds arguments only. Write %s = { … }.", inner.Type)
	}
	for _, a := range sortedAttributes(b.Body) {
		diags := unbounded(a.Expr)
		if len(diags) == 0 {
			_, diags = a.Expr.Value(l.scope.context())
			explain(l.file, a, diags...)
		}
		l.diags = append(l.diags, diags...)
		l.windowsPaths(a)
	}
}

// "C:\new" is valid HCL that holds a line break, never what was meant.
var windowsPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z]:.*\\[nrt]`) })

func (l *loader) windowsPaths(a *hclsyntax.Attribute) {
	_ = hclsyntax.VisitAll(a.Expr, func(n hclsyntax.Node) hcl.Diagnostics {
		lit, ok := n.(*hclsyntax.LiteralValueExpr)
		if !ok {
			return nil
		}
		if src := l.file.src[lit.SrcRange.Start.Byte:lit.SrcRange.End.Byte]; windowsPath().Match(src) {
			l.fail(lit.SrcRange, "Backslash in a path", `A backslash begins an escape sequence. Write \\ for each, or use / instead.`)
		}
		return nil
	})
}

// explain makes the evaluator's diagnostics fit for an attribute that may hold secrets: details that could
// quote the value of a variable are replaced, and common mistakes are given their cure.
func explain(f *file, a *hclsyntax.Attribute, diags ...*hcl.Diagnostic) {
	calls := envCalls(a.Expr)
	for _, d := range diags {
		var wrong *variableError
		extra, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d)
		switch {
		case ok && errors.As(extra.FunctionCallError(), &wrong):
			d.Summary = wrong.about(f.text(a.Expr.Range()))
			d.Detail = fmt.Sprintf("The argument %q needs it. %s", a.Name, wrong.cure)
		case d.Summary == "Unknown variable":
			d.Detail = unknownVariable(f, a, d)
		case d.Summary == "Call to unknown function":
			d.Detail = "The functions are env and " + list(functionNames()) + "."
		case len(calls) > 0:
			d.Detail = fmt.Sprintf("The expression does not fit the value it reads with %s. The value is not shown: it may be a secret.", f.text(calls[0].Range()))
		}
	}
}

// unknownVariable takes var.HOME and env.HOME for other languages' ways to say HOME.
func unknownVariable(f *file, a *hclsyntax.Attribute, d *hcl.Diagnostic) string {
	name, written := "NAME", "NAME"
	for _, variable := range a.Expr.Variables() {
		at := variable.SourceRange()
		if d.Subject == nil || !at.Overlaps(*d.Subject) {
			continue
		}
		written = f.text(at)
		switch last := variable[len(variable)-1].(type) {
		case hcl.TraverseRoot:
			name = last.Name
		case hcl.TraverseAttr:
			name = last.Name
		}
	}
	return fmt.Sprintf("The only variables are path.root, path.cwd and path.home. For an environment variable write env(%q); for the text itself write $${%s}.", name, written)
}

// text is the source of a range.
func (f *file) text(r hcl.Range) string {
	start := min(max(r.Start.Byte, 0), len(f.src))
	return string(f.src[start:min(max(r.End.Byte, start), len(f.src))])
}

// Rejected is what the provider itself said against one of its arguments, shown where it is written.
func (p *Provider) Rejected(argument, message string) Diagnostics {
	at := p.declared
	if p.settings != nil {
		at = p.settings.DefRange()
		if a := p.settings.Body.Attributes[argument]; a != nil {
			at = a.Expr.Range()
		}
	}
	d := errorAt(at, fmt.Sprintf("Provider %q refuses %q", p.Name, argument), "%s",
		cmp.Or(capital(message), "It does not say why."))
	return p.file.render(hcl.Diagnostics{d})
}

package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
)

// sensitive checks on the syntax, before any evaluation, that a secret is written as env("NAME") and as
// nothing else: no default, no template and no literal that would end up in the repository.
func (d *decoder) sensitive(attr *configv1.ConfigAttribute, expr hclsyntax.Expression) {
	if attr.GetSensitive() {
		if !isEnvLiteral(expr) {
			d.secretDiagnostic(expr.Range(), attr.GetName())
		}
		return
	}
	secrets := map[string]*configv1.ConfigAttribute{}
	for _, m := range attr.GetObjectAttributes() {
		if hasSecret(m) {
			secrets[m.GetName()] = m
		}
	}
	if len(secrets) == 0 {
		return
	}
	cons, ok := expr.(*hclsyntax.ObjectConsExpr)
	if !ok {
		d.secretDiagnostic(expr.Range(), attr.GetName())
		return
	}
	for _, item := range cons.Items {
		name := keyOf(item)
		if name == "" { // a computed name could be that of a secret
			d.secretDiagnostic(item.ValueExpr.Range(), attr.GetName())
		} else if m := secrets[name]; m != nil {
			d.sensitive(m, item.ValueExpr)
		}
	}
}

func (d *decoder) secretDiagnostic(at hcl.Range, name string) {
	diag := errorAt(at, "A secret must come from the environment",
		"%q is sensitive: write exactly env(\"NAME\"), with the name of a variable in quotes. The value in the file is not shown here.", name)
	diag.Extra = masked{}
	d.diags = append(d.diags, diag)
}

func hasSecret(attr *configv1.ConfigAttribute) bool {
	if attr.GetSensitive() {
		return true
	}
	for _, m := range attr.GetObjectAttributes() {
		if hasSecret(m) {
			return true
		}
	}
	return false
}

func isEnvLiteral(expr hclsyntax.Expression) bool {
	call, ok := expr.(*hclsyntax.FunctionCallExpr)
	if !ok || call.Name != "env" || len(call.Args) != 1 || call.ExpandFinal {
		return false
	}
	template, ok := call.Args[0].(*hclsyntax.TemplateExpr)
	return ok && template.IsStringLiteral()
}

package config

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/agentco/agent/kernel/internal/policy"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

var (
	policyArguments = []string{"match", "action"}
	matchFields     = []string{"kind", "provider", "tool_name", "risk", "arguments", "command"}

	policyActions = []string{"allow", "ask", "deny"}
	policyKinds   = map[string]toolv1.ToolKind{
		"resource":    toolv1.ToolKind_TOOL_KIND_RESOURCE,
		"data_source": toolv1.ToolKind_TOOL_KIND_DATA_SOURCE,
	}
	policyRisks = map[string]toolv1.RiskClass{
		"read_only": toolv1.RiskClass_RISK_CLASS_READ_ONLY,
		"low":       toolv1.RiskClass_RISK_CLASS_LOW,
		"moderate":  toolv1.RiskClass_RISK_CLASS_MODERATE,
		"high":      toolv1.RiskClass_RISK_CLASS_HIGH,
		"critical":  toolv1.RiskClass_RISK_CLASS_CRITICAL,
	}
)

func (l *loader) policy(b *block) {
	before := len(l.diags)
	for _, inner := range b.Body.Blocks {
		l.fail(inner.DefRange(), "Unexpected block "+quoted(inner.Type), "Write it as an argument: %s = { … }.", inner.Type)
	}
	rule := policy.Rule{Name: b.Labels[0], Source: position(b.DefRange())}
	var at ruleRange
	for _, a := range sortedAttributes(b.Body) {
		switch a.Name {
		case "match":
			rule.Match, at = l.match(a.Expr)
		case "action":
			rule.Action = choice(l, a.Expr, "action", policyActions, policy.ParseAction)
		default:
			l.fail(a.NameRange, "Unknown argument "+quoted(a.Name), "%sA policy has match and action.", didYouMean(a.Name, policyArguments))
		}
	}
	for _, name := range policyArguments {
		if b.Body.Attributes[name] == nil && len(b.Body.Blocks) == 0 {
			l.fail(b.DefRange(), "Missing "+name, "A policy needs match = { … } and action = \"allow\", \"ask\" or \"deny\".")
		}
	}
	at.block = b.DefRange()
	l.checkAllowed(rule, b)
	if len(l.diags) == before {
		l.project.Policies = append(l.project.Policies, rule)
		l.project.rules = append(l.project.rules, at)
	}
}

// match reads what a rule is about, and where it names what.
func (l *loader) match(expr hclsyntax.Expression) (m policy.Match, at ruleRange) {
	entries, _ := l.object(expr, matchFields...)
	if e := entries["provider"]; e != nil {
		m.Provider, at.provider = l.nonEmpty(e), e.Range()
	}
	if e := entries["tool_name"]; e != nil {
		m.ToolName, at.tool = l.operationName(e), e.Range()
	}
	if e := entries["kind"]; e != nil {
		m.Kind = choice(l, e, "kind", []string{"resource", "data_source"}, from(policyKinds))
	}
	if e := entries["risk"]; e != nil {
		m.Risk = choice(l, e, "risk", []string{"read_only", "low", "moderate", "high", "critical"}, from(policyRisks))
	}
	if e := entries["arguments"]; e != nil {
		m.Arguments, at.arguments = l.argumentGlobs(e)
	}
	if e := entries["command"]; e != nil {
		m.Command, at.command = l.commandPatterns(e), e.Range()
	}
	return m, at
}

// operationName is what a tool or a command can be called.
var operationName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`) })

// operationName reads the name of a tool or command. One that nothing can have would make a rule that never applies,
// and a deny that never applies is worse than none.
func (l *loader) operationName(expr hclsyntax.Expression) string {
	s := l.nonEmpty(expr)
	name := strings.TrimPrefix(s, "/")
	if s != "" && !operationName().MatchString(name) {
		l.fail(expr.Range(), "No operation is called "+quoted(s),
			"Write the name of one tool or command, without its provider: provider = \"filesystem\", tool_name = \"write_file\". There are no patterns.")
	}
	return name
}

// nonEmpty reads a constant name. An empty one would match everything instead of nothing.
func (l *loader) nonEmpty(expr hclsyntax.Expression) string {
	s, ok := l.text(expr)
	if ok && s == "" {
		l.fail(expr.Range(), "Empty name", "Leave the field out to match any.")
	}
	return s
}

// choice reads a constant that is one of a few words.
func choice[T any](l *loader, expr hclsyntax.Expression, what string, words []string, parse func(string) (T, error)) T {
	s, ok := l.text(expr)
	v, err := parse(s)
	if ok && err != nil {
		l.fail(expr.Range(), "Unknown "+what+" "+quoted(s), "%sUse %s.", didYouMean(s, words), list(words))
	}
	return v
}

func from[T any](words map[string]T) func(string) (T, error) {
	return func(s string) (T, error) {
		v, ok := words[s]
		if !ok {
			return v, fmt.Errorf("unknown word %q", s)
		}
		return v, nil
	}
}

// checkPolicies looks at the rules beside each other.
func (l *loader) checkPolicies() {
	first := map[string]policy.Rule{} // by what they match
	for i, rule := range l.project.Policies {
		at := l.project.rules[i].block
		before, same := first[rule.Match.Key()]
		if !same {
			first[rule.Match.Key()] = rule
			l.warnAbout(rule, at)
			continue
		}
		if _, err := policy.New([]policy.Rule{before, rule}); err != nil {
			l.fail(at, "Policies contradict each other", "%s.", sentence(err))
		}
	}
}

func (l *loader) warnAbout(rule policy.Rule, at hcl.Range) {
	set, err := policy.New([]policy.Rule{rule})
	if err != nil {
		l.fail(at, "Invalid policy", "%s.", sentence(err))
		return
	}
	for _, w := range set.Warnings() {
		l.diags = append(l.diags, warningAt(at, "Policy "+quoted(rule.Name)+" "+w.Summary, "%s.", capital(w.Text)))
	}
}

package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// DefaultProfile is the name of the profile that holds when none is asked for.
const DefaultProfile = "default"

// Profile is an agent_profile block: the operations that there are for whoever works under it.
type Profile struct {
	Name string
	// Models are the model blocks, kept as they are written for the category that will read them.
	Models []Model

	tools, commands []pattern
	declared        hcl.Range
	toolsAt         hcl.Range // of the argument; zero when it is not given
	commandsAt      hcl.Range
}

// Model is a model block of a profile. Nothing reads it yet.
type Model struct {
	Labels []string
	// Text is the block as it stands in the file.
	Text string
}

// Position says where the profile stands, as FILE:LINE:COLUMN.
func (p *Profile) Position() string { return position(p.declared) }

// HasTool reports whether a tool is in scope.
func (p *Profile) HasTool(provider, tool string) bool { return covered(p.tools, provider, tool) }

// HasCommand reports whether a slash command is in scope.
func (p *Profile) HasCommand(provider, command string) bool {
	return covered(p.commands, provider, command)
}

func covered(patterns []pattern, provider, name string) bool {
	return slices.ContainsFunc(patterns, func(pt pattern) bool { return pt.covers(provider, name) })
}

// Refusal says why a tool or a command is out of scope, and which line of which file would take it in.
func (p *Profile) Refusal(provider, name string, command bool) string {
	op, argument, at, entry := provider+"."+name, "tools", p.toolsAt, provider+"."+name
	if command {
		op, argument, at, entry = "/"+name, "slash_commands", p.commandsAt, name
	}
	text := fmt.Sprintf("%s is not in scope of agent_profile %q (%s): ", op, p.Name, p.Position())
	if at.Empty() {
		return text + fmt.Sprintf("it has no %s; add %s = [%q] to it, or choose another profile with --profile", argument, argument, entry)
	}
	return text + fmt.Sprintf("add %q to its %s (%s), or choose another profile with --profile", entry, argument, position(at))
}

// Profile looks up a profile by name; nil when there is none.
func (p *Project) Profile(name string) *Profile {
	for _, pr := range p.Profiles {
		if pr.Name == name {
			return pr
		}
	}
	return nil
}

var profileArguments = []string{"tools", "slash_commands"}

// profileName is what --profile can be given.
var profileName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`) })

func (l *loader) profile(b *block) {
	p := &Profile{Name: b.Labels[0], declared: b.DefRange()}
	if !profileName().MatchString(p.Name) {
		l.fail(b.LabelRanges[0], "Invalid profile name "+quoted(p.Name), "A name is letters, digits, - and _, beginning with a letter.")
	}
	for _, inner := range b.Body.Blocks {
		switch {
		case inner.Type == "model":
			p.Models = append(p.Models, Model{Labels: inner.Labels, Text: l.file.text(inner.Range())})
		case contains(profileArguments, inner.Type):
			l.fail(inner.DefRange(), "Unexpected block "+quoted(inner.Type), "Write it as an argument: %s = [ … ].", inner.Type)
		default:
			l.fail(inner.TypeRange, "Unknown block "+quoted(inner.Type), "%sA profile has tools, slash_commands and model blocks.",
				didYouMean(inner.Type, append([]string{"model"}, profileArguments...)))
		}
	}
	for _, a := range sortedAttributes(b.Body) {
		switch a.Name {
		case "tools":
			p.tools, p.toolsAt = l.patterns(a.Expr, toolPattern), a.SrcRange
		case "slash_commands":
			p.commands, p.commandsAt = l.patterns(a.Expr, commandPattern), a.SrcRange
		default:
			l.fail(a.NameRange, "Unknown argument "+quoted(a.Name), "%sA profile has tools, slash_commands and model blocks.", didYouMean(a.Name, profileArguments))
		}
	}
	l.project.Profiles = append(l.project.Profiles, p)
}

// patterns reads a list of patterns. One that is left out would narrow the profile without a word.
func (l *loader) patterns(expr hclsyntax.Expression, parse func(string) (pattern, error)) []pattern {
	tuple, ok := expr.(*hclsyntax.TupleConsExpr)
	if !ok {
		l.fail(expr.Range(), "Expected a list", "Write a list of names, as in [\"filesystem.*\"].")
		return nil
	}
	var all []pattern
	for _, e := range tuple.Exprs {
		text, ok := l.text(e)
		if !ok {
			continue
		}
		pt, err := parse(text)
		if err != nil {
			l.fail(e.Range(), "Invalid entry "+quoted(text), "%s.", sentence(err))
			continue
		}
		pt.at = e.Range()
		all = append(all, pt)
	}
	return all
}

// checkProfileProviders looks at what can be told of the entries without a provider: one that is not required has no
// operation of any name, but patterns may be written for what is there in one project and not in another.
func (l *loader) checkProfileProviders() {
	names := l.project.providerNames()
	for _, p := range l.project.Profiles {
		for _, pt := range slices.Concat(p.tools, p.commands) {
			if pt.provider == "" || contains(names, pt.provider) {
				continue
			}
			near := didYouMean(pt.provider, names)
			switch {
			case !pt.wild():
				l.fail(pt.at, fmt.Sprintf("agent_profile %q: no provider %q is required", p.Name, pt.provider),
					"%sThe entry could never be of use. Correct the name, or add the provider to required_providers.", near)
			case near != "":
				l.diags = append(l.diags, warningAt(pt.at, fmt.Sprintf("agent_profile %q: no provider %q is required", p.Name, pt.provider),
					"%sThe pattern matches nothing.", near))
			}
		}
	}
}

// toolPattern reads PROVIDER.TOOL, where either may hold *.
func toolPattern(text string) (pattern, error) {
	if text == "*" {
		return pattern{name: "*"}, nil
	}
	if name, slash := strings.CutPrefix(text, "/"); slash {
		return pattern{}, fmt.Errorf("a slash command belongs into slash_commands = [%q]", name)
	}
	provider, name, dotted := strings.Cut(text, ".")
	if !dotted {
		return pattern{}, fmt.Errorf("write PROVIDER.TOOL, or %q for all tools of a provider", provider+".*")
	}
	return newPattern(text, provider, name)
}

// commandPattern reads COMMAND or PROVIDER.COMMAND, where each may hold *, with or without a slash.
func commandPattern(text string) (pattern, error) {
	provider, name, dotted := strings.Cut(strings.TrimPrefix(text, "/"), ".")
	if !dotted {
		provider, name = "*", provider
	}
	return newPattern(text, provider, name)
}

// pattern is an entry of a profile.
type pattern struct {
	provider string // empty for any
	name     string // may hold *
	at       hcl.Range
}

var patternName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_*-]{1,64}$`) })

func newPattern(text, provider, name string) (pattern, error) {
	switch {
	case provider == "*":
		provider = ""
	case strings.Contains(provider, "*"):
		return pattern{}, fmt.Errorf("a provider is named in full, or is *: %q is neither", provider)
	case !providerName().MatchString(provider):
		return pattern{}, fmt.Errorf("%q is no name of a provider", provider)
	}
	if !patternName().MatchString(name) {
		return pattern{}, fmt.Errorf("%q is no name of an operation: letters, digits, - and _, and * for any of them", name)
	}
	return pattern{provider: provider, name: name}, nil
}

// wild reports whether the entry is about more than one operation, or about any provider's.
func (pt pattern) wild() bool { return strings.Contains(pt.name, "*") }

func (pt pattern) covers(provider, name string) bool {
	return (pt.provider == "" || pt.provider == provider) && starred(pt.name, name)
}

// starred compares a name with a pattern in which * is any text.
func starred(pattern, name string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	if !strings.HasPrefix(name, head) {
		return false
	}
	name = name[len(head):]
	for {
		part, more, again := strings.Cut(rest, "*")
		if !again {
			return strings.HasSuffix(name, rest)
		}
		at := strings.Index(name, part)
		if at < 0 {
			return false
		}
		name, rest = name[at+len(part):], more
	}
}

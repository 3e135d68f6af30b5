package policy

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// Match says which calls a rule is about. A zero field matches any value.
type Match struct {
	// Command are patterns of shell commands; see ParseCommand. The rule is about calls with an argument "command".
	Command []string
	// Arguments are globs of string arguments by their names; see ParseGlob. The rule is about calls that have them all.
	Arguments map[string]string
	// ToolName is the name of a tool or a command.
	ToolName string
	Provider string
	Risk     toolv1.RiskClass
	// Kind is RESOURCE or DATA_SOURCE.
	Kind toolv1.ToolKind
}

// everything reports whether no field is set.
func (m Match) everything() bool { return m.specificity() == 0 }

// specificity orders rules by the tuple (command, arguments, tool_name, provider, risk, kind): a field to the left
// outweighs all to its right together.
func (m Match) specificity() int {
	n := 0
	for _, set := range []bool{len(m.Command) > 0, len(m.Arguments) > 0, m.ToolName != "", m.Provider != "", m.Risk != 0, m.Kind != 0} {
		n <<= 1
		if set {
			n |= 1
		}
	}
	return n
}

// about compares what needs no reading of arguments; why says what differs.
func (m Match) about(c Call) (ok bool, why string) {
	switch {
	case m.ToolName != "" && m.ToolName != c.Operation:
		return false, fmt.Sprintf("it is about the operation %s", m.ToolName)
	case m.Provider != "" && m.Provider != c.Provider:
		return false, fmt.Sprintf("it is about the provider %s", m.Provider)
	case m.Risk != 0 && m.Risk != c.Risk:
		return false, fmt.Sprintf("it is about the risk %s, and this is %s", spelt(m.Risk.String()), spelt(c.Risk.String()))
	case m.Kind != 0 && m.Kind != c.Kind:
		return false, fmt.Sprintf("it is about the kind %s, and this is %s", spelt(m.Kind.String()), spelt(c.Kind.String()))
	default:
		return true, ""
	}
}

// spelt is a name of the protocol as agent.hcl spells it.
func spelt(name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(name, "RISK_CLASS_"), "TOOL_KIND_"))
}

// String is the match as agent.hcl has it, on one line.
func (m Match) String() string {
	var fields []string
	add := func(name, value string) { fields = append(fields, name+" = "+value) }
	for _, field := range [][2]string{{"provider", m.Provider}, {"tool_name", m.ToolName}} {
		if field[1] != "" {
			add(field[0], fmt.Sprintf("%q", field[1]))
		}
	}
	if len(m.Command) > 0 {
		add("command", "["+inHCL(quoteAll(m.Command))+"]")
	}
	if len(m.Arguments) > 0 {
		var globs []string
		for _, name := range slices.Sorted(maps.Keys(m.Arguments)) {
			globs = append(globs, fmt.Sprintf("%s = %s", argumentName(name), inHCL(strconv.Quote(m.Arguments[name]))))
		}
		add("arguments", "{ "+strings.Join(globs, ", ")+" }")
	}
	if m.Risk != 0 {
		add("risk", fmt.Sprintf("%q", spelt(m.Risk.String())))
	}
	if m.Kind != 0 {
		add("kind", fmt.Sprintf("%q", spelt(m.Kind.String())))
	}
	return strings.Join(fields, ", ")
}

// inHCL keeps quoted text from being read as a template.
func inHCL(quoted string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(quoted)
}

var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`) })

func argumentName(name string) string {
	if identifier().MatchString(name) {
		return name
	}
	return inHCL(strconv.Quote(name))
}

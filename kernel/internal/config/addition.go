package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/agentco/agent/kernel/internal/policy"
)

// Addition is a policy block that is not in agent.hcl yet.
type Addition struct {
	// Text is the block, as it will stand in the file.
	Text string

	project *Project
	after   *Project // as it is with the block
}

// Allowing makes a policy that allows what matches. Nothing is written. It fails when the file is not as it was loaded,
// or would not be right with the block; the error of the latter is of type Diagnostics.
func (p *Project) Allowing(m policy.Match) (*Addition, error) {
	text := policyBlock(p.freeName("allow-"+m.ToolName), m)
	if bytes.Contains(p.file.src, []byte("\r\n")) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if err := p.unchanged(); err != nil {
		return nil, err
	}
	f, syntax := parse(p.file.name, append(bytes.Clone(p.file.src), p.joined(text)...))
	after, err := load(f, syntax, p.File, p.scope)
	if err != nil {
		return nil, err
	}
	if last := after.Policies[len(after.Policies)-1]; !last.Match.Equal(m) { // as with text that HCL composes
		return nil, fmt.Errorf("no policy can say this: it would be read as %s", last.Match)
	}
	return &Addition{Text: text, project: p, after: after}, nil
}

// Write puts the block at the end of the file, all of it or nothing. What is there stays as it is.
func (a *Addition) Write() error {
	p := a.project
	if err := p.unchanged(); err != nil {
		return err
	}
	f, err := os.OpenFile(p.File, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("cannot add the policy: %w", err)
	}
	before, err := f.Seek(0, 2)
	if err == nil {
		if _, err = f.WriteString(p.joined(a.Text)); err == nil {
			err = f.Sync()
		}
		if err != nil {
			err = errors.Join(err, f.Truncate(before))
		}
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("cannot add the policy: %w", err)
	}
	p.file, p.Policies, p.rules = a.after.file, a.after.Policies, a.after.rules
	return nil
}

// joined is a block with what has to stand between it and what is there.
func (p *Project) joined(text string) string {
	end := "\n"
	if strings.Contains(text, "\r\n") {
		end = "\r\n"
	}
	if len(p.file.src) > 0 && !bytes.HasSuffix(p.file.src, []byte("\n")) {
		end += end
	}
	return end + text
}

// unchanged checks that the file is what was loaded, so that what is shown is what will be.
func (p *Project) unchanged() error {
	src, err := read(p.File)
	if err != nil {
		return fmt.Errorf("cannot read %s again: %w", p.file.name, err)
	}
	if !bytes.Equal(bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")), p.file.src) {
		return fmt.Errorf("%s has changed since it was read: run the command again", p.file.name)
	}
	return nil
}

// freeName is a name that no policy has yet.
func (p *Project) freeName(name string) string {
	for n := 2; ; n++ {
		if !slices.ContainsFunc(p.Policies, func(r policy.Rule) bool { return r.Name == name }) {
			return name
		}
		name = fmt.Sprintf("%s-%d", strings.TrimSuffix(name, fmt.Sprintf("-%d", n-1)), n)
	}
}

// policyBlock writes a policy that allows what matches.
func policyBlock(name string, m policy.Match) string {
	f := hclwrite.NewEmptyFile()
	b := f.Body().AppendNewBlock("policy", []string{name}).Body()
	var fields []hclwrite.ObjectAttrTokens
	add := func(name string, value hclwrite.Tokens) {
		fields = append(fields, hclwrite.ObjectAttrTokens{Name: hclwrite.TokensForIdentifier(name), Value: value})
	}
	add("provider", hclwrite.TokensForValue(cty.StringVal(m.Provider)))
	add("tool_name", hclwrite.TokensForValue(cty.StringVal(m.ToolName)))
	if len(m.Command) > 0 {
		var commands []hclwrite.Tokens
		for _, c := range m.Command {
			commands = append(commands, hclwrite.TokensForValue(cty.StringVal(c)))
		}
		add("command", hclwrite.TokensForTuple(commands))
	}
	if len(m.Arguments) > 0 {
		globs := map[string]cty.Value{}
		for _, name := range slices.Sorted(maps.Keys(m.Arguments)) {
			globs[name] = cty.StringVal(m.Arguments[name])
		}
		add("arguments", hclwrite.TokensForValue(cty.ObjectVal(globs)))
	}
	b.SetAttributeRaw("match", hclwrite.TokensForObject(fields))
	b.SetAttributeValue("action", cty.StringVal("allow"))
	return string(hclwrite.Format(f.Bytes()))
}

package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// Overriding makes a config.hcl in which dev_overrides names these binaries, by the names of providers. What else stands in
// the file stays as it is, comments too; so does the whole file when it names them already. before is what the file holds,
// nil when there is none. Nothing is written. A file that is not right is an error of type Diagnostics.
func (g *Global) Overriding(paths map[string]string, scope Scope) (before, after []byte, err error) {
	if before, err = read(g.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	now, err := globalOf(before, g.File, scope)
	if err != nil {
		return nil, nil, err
	}
	wanted := maps.Clone(paths)
	maps.DeleteFunc(wanted, func(name, path string) bool { return now.DevOverrides[name] == path })
	if len(wanted) == 0 {
		return before, before, nil
	}
	if after, err = override(before, wanted); err != nil {
		return nil, nil, err
	}
	then, err := globalOf(after, g.File, scope)
	expected := maps.Clone(wanted)
	for name, path := range now.DevOverrides {
		if _, replaced := wanted[name]; !replaced {
			expected[name] = path
		}
	}
	if err != nil || !maps.Equal(then.DevOverrides, expected) {
		return nil, nil, fmt.Errorf("%s is written in a way that cannot be edited safely: put it in by hand", g.File)
	}
	return before, after, nil
}

func globalOf(src []byte, path string, scope Scope) (*Global, error) {
	f, diags := parse(path, src)
	return loadGlobal(f, diags, path, scope)
}

// override sets arguments of dev_overrides, in a block at the end when there is none yet.
func override(src []byte, paths map[string]string) ([]byte, error) {
	body := bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	mark := src[:len(src)-len(body)]
	windows := bytes.Contains(body, []byte("\r\n"))
	if windows {
		body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	}
	if len(body) > 0 && !bytes.HasSuffix(body, []byte("\n")) {
		body = append(bytes.Clone(body), '\n')
	}
	f, diags := hclwrite.ParseConfig(body, "config.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	block := overridesIn(f.Body(), len(body) > 0)
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		block.SetAttributeValue(name, cty.StringVal(paths[name]))
	}
	after := f.Bytes()
	if windows {
		after = bytes.ReplaceAll(after, []byte("\n"), []byte("\r\n"))
	}
	return slices.Concat(mark, after), nil
}

// overridesIn is the block, in rows of its own.
func overridesIn(body *hclwrite.Body, behind bool) *hclwrite.Body {
	old := body.FirstMatchingBlock("dev_overrides", nil)
	if old == nil {
		if behind {
			body.AppendNewline()
		}
		return body.AppendNewBlock("dev_overrides", nil).Body()
	}
	tokens := old.BuildTokens(nil)
	if slices.ContainsFunc(tokens[:len(tokens)-1], isNewline) {
		return old.Body()
	}
	rows := body.AppendNewBlock("dev_overrides", nil).Body()
	for _, name := range slices.Sorted(maps.Keys(old.Body().Attributes())) {
		rows.SetAttributeRaw(name, old.Body().GetAttribute(name).Expr().BuildTokens(nil))
	}
	body.RemoveBlock(old)
	return rows
}

func isNewline(t *hclwrite.Token) bool { return t.Type == hclsyntax.TokenNewline }

// OverridesText is a dev_overrides block.
func OverridesText(paths map[string]string) string {
	f := hclwrite.NewEmptyFile()
	block := f.Body().AppendNewBlock("dev_overrides", nil).Body()
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		block.SetAttributeValue(name, cty.StringVal(paths[name]))
	}
	return strings.TrimSuffix(string(hclwrite.Format(f.Bytes())), "\n")
}

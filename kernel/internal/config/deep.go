package config

import (
	"bytes"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// tooDeep refuses what the parser or the evaluator would recurse into without end: brackets in brackets, directives in
// directives, long runs of operators; and numbers that take a page to write out. Tokens come from the lexer, so text in
// strings does not count.
func tooDeep(f *file) hcl.Diagnostics {
	tokens, _ := hclsyntax.LexConfig(f.src, f.name, hcl.InitialPos)
	d := depth{levels: []level{{body: true}}}
	for i, t := range tokens {
		if t.Type == hclsyntax.TokenNumberLit && huge(t.Bytes) {
			return hcl.Diagnostics{errorAt(t.Range, "Number too large", "Its exponent is at most %d, either way.", maxExponent)}
		}
		if t.Type == hclsyntax.TokenTemplateControl && i+1 < len(tokens) {
			d.directive(tokens[i+1].Bytes)
		}
		d.token(t.Type)
		switch here := d.levels[len(d.levels)-1]; {
		case len(d.levels) > maxNesting+1 || here.prefixes > maxNesting || d.directives > maxNesting:
			return hcl.Diagnostics{errorAt(t.Range, "Nested too deeply", "At most %d levels are read.", maxNesting)}
		case here.chain > maxChain:
			return hcl.Diagnostics{errorAt(t.Range, "Expression too long", "At most %d operators in a row are read.", maxChain)}
		}
	}
	return nil
}

// depth is how deep a place in a file is.
type depth struct {
	levels     []level
	directives int // that are open
}

// level is what one pair of brackets holds, or the file. In a body, or an object, an expression ends with its line.
type level struct {
	body            bool
	prefixes, chain int
}

func (d *depth) token(t hclsyntax.TokenType) {
	here := &d.levels[len(d.levels)-1]
	switch t {
	case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		if t == hclsyntax.TokenOBrack || t == hclsyntax.TokenOParen {
			here.chain++
		}
		d.levels = append(d.levels, level{body: t == hclsyntax.TokenOBrace})
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd:
		d.levels = d.levels[:max(1, len(d.levels)-1)]
	case hclsyntax.TokenBang, hclsyntax.TokenMinus, hclsyntax.TokenQuestion:
		here.prefixes++
	case hclsyntax.TokenComma:
		here.prefixes, here.chain = 0, 0
	case hclsyntax.TokenNewline:
		if here.body {
			here.prefixes, here.chain = 0, 0
		}
	case hclsyntax.TokenDot, hclsyntax.TokenPlus, hclsyntax.TokenStar, hclsyntax.TokenSlash, hclsyntax.TokenPercent, hclsyntax.TokenAnd,
		hclsyntax.TokenOr, hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenGreaterThan,
		hclsyntax.TokenLessThanEq, hclsyntax.TokenGreaterThanEq:
		here.chain++
	}
}

// directive counts the directives of templates, which hold what follows them.
func (d *depth) directive(word []byte) {
	switch string(word) {
	case "if", "for":
		d.directives++
	case "endif", "endfor":
		d.directives = max(0, d.directives-1)
	}
}

// huge reports whether a number has so many digits that to write it out takes long.
func huge(number []byte) bool {
	at := bytes.IndexAny(number, "eE")
	if at < 0 {
		return false
	}
	exponent, err := strconv.Atoi(string(number[at+1:]))
	return err != nil || exponent > maxExponent || exponent < -maxExponent
}

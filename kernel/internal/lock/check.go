package lock

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

const startAnew = `Take the file from version control again, or delete it and run "agent init".`

// checkVersion finds lock_file_version among the tokens, before anything is parsed.
func (p *parser) checkVersion(tokens hclsyntax.Tokens) bool {
	depth := 0
	for i, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack:
			depth--
		case hclsyntax.TokenIdent:
			if depth != 0 || string(t.Bytes) != "lock_file_version" || i+2 >= len(tokens) || tokens[i+1].Type != hclsyntax.TokenEqual {
				continue
			}
			version, err := strconv.ParseInt(string(tokens[i+2].Bytes), 10, 64)
			switch {
			case err != nil && !errors.Is(err, strconv.ErrRange) || version < 1: // out of range it is the largest there is
				p.fail(tokens[i+2].Range, "Invalid lock_file_version", "It is a whole number from 1 on. %s", startAnew)
			case version > Version:
				p.newer = true
				p.fail(tokens[i+2].Range, "The lock file is from a newer agent",
					"It has lock_file_version %d, and this agent knows %d. Upgrade agent; nothing else of the file was read.", version, Version)
			}
			return len(p.problems) == 0
		}
	}
	if !p.checkMarkers() {
		return false
	}
	p.fail(hcl.Range{}, "No lock_file_version in the lock file", "%s", startAnew)
	return false
}

// checkMarkers finds what git leaves of a merge that did not work out.
func (p *parser) checkMarkers() bool {
	offset, number := 0, 0
	for line := range bytes.Lines(p.src) {
		number++
		if marker(line) {
			start := hcl.Pos{Line: number, Column: 1, Byte: offset}
			end := hcl.Pos{Line: number, Column: 8, Byte: offset + 7}
			p.fail(hcl.Range{Start: start, End: end}, "The lock file holds a merge conflict",
				`Keep one side, and run "agent init"; it says when that side does not fit agent.hcl.`)
			return false
		}
		offset += len(line)
	}
	return true
}

func marker(line []byte) bool {
	line = bytes.TrimRight(line, "\r\n")
	for _, m := range []string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"} {
		if rest, ok := bytes.CutPrefix(line, []byte(m)); ok && (len(rest) == 0 || rest[0] == ' ') {
			return true
		}
	}
	return false
}

// The file is data. What could be evaluated, or nest without end, is refused before it is parsed.
var allowedTokens = map[hclsyntax.TokenType]bool{
	hclsyntax.TokenIdent: true, hclsyntax.TokenEqual: true, hclsyntax.TokenNumberLit: true,
	hclsyntax.TokenOBrace: true, hclsyntax.TokenCBrace: true, hclsyntax.TokenComma: true,
	hclsyntax.TokenOQuote: true, hclsyntax.TokenQuotedLit: true, hclsyntax.TokenCQuote: true,
	hclsyntax.TokenNewline: true, hclsyntax.TokenComment: true, hclsyntax.TokenEOF: true,
}

func (p *parser) checkTokens(tokens hclsyntax.Tokens) bool {
	const deepest = 2 // a block, and an object in it
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace:
			depth++
		case hclsyntax.TokenCBrace:
			depth--
		}
		if depth > deepest || !allowedTokens[t.Type] {
			p.fail(t.Range, "Unexpected text in the lock file", "It holds blocks, names and quoted text, as agent init writes them. %s", startAnew)
			return false
		}
	}
	return true
}

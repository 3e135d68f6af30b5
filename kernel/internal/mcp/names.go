package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/agentco/agent/kernel/internal/engine"
)

// longestName leaves room for what clients put before a name: "mcp__" SERVER "__" and the 64 characters that models take.
const longestName = 40

// hashLength is how many hex digits tell names apart that would otherwise be alike: 32 bits for one that had to be
// changed, more where that is not enough.
const (
	hashLength     = 8
	longHashLength = 24
)

// names gives every operation a name that all clients take, ^[a-zA-Z][a-zA-Z0-9_-]*$ of at most longestName characters.
// A name depends on its operation alone, so that it is the same in every run and whatever else is loaded; it is
// PROVIDER_TOOL where that can be taken apart in one way only, else it carries a hash.
func names(ops []engine.Operation) map[string]engine.Operation {
	named := make(map[string]engine.Operation, len(ops))
	clash := map[string]bool{}
	for _, op := range ops {
		name := nameOf(op)
		if _, taken := named[name]; taken {
			clash[name] = true
		}
		named[name] = op
	}
	if len(clash) == 0 {
		return named
	}
	// Somebody has named a tool as another one is hashed. All that clash get longer hashes, so that no order matters.
	for name := range clash {
		delete(named, name)
	}
	for _, op := range ops {
		if clash[nameOf(op)] {
			named[hashed(op, longHashLength)] = op
		}
	}
	return named
}

func nameOf(op engine.Operation) string {
	plain := op.Provider + "_" + op.Name
	if plain == allowed(plain) && len(plain) <= longestName && !strings.Contains(op.Provider, "_") && op.Name != "" {
		return plain
	}
	return hashed(op, hashLength)
}

// hashed is a name with as much of the plain one as there is room for.
func hashed(op engine.Operation, digits int) string {
	sum := sha256.Sum256([]byte(op.Provider + "\x00" + op.Name))
	plain := allowed(op.Provider + "_" + op.Name)
	return plain[:min(len(plain), longestName-digits-1)] + "_" + hex.EncodeToString(sum[:])[:digits]
}

// allowed replaces what clients refuse. The first character is always a letter.
func allowed(name string) string {
	clean := strings.Map(func(r rune) rune {
		if isLetter(r) || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, name)
	if clean == "" || !isLetter(rune(clean[0])) {
		return "x" + clean
	}
	return clean
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// commandNames gives every slash command the name that a person types: that of the command where only one provider has
// it, else PROVIDER_COMMAND for each that has it.
func commandNames(ops []engine.Operation) map[string]engine.Operation {
	count := map[string]int{}
	for _, op := range ops {
		count[op.Name]++
	}
	named := map[string]engine.Operation{}
	var others []engine.Operation
	for _, op := range ops {
		if count[op.Name] == 1 && op.Name == allowed(op.Name) && len(op.Name) <= longestName {
			named[op.Name] = op
		} else {
			others = append(others, op)
		}
	}
	for name, op := range names(others) {
		if _, taken := named[name]; taken {
			name = hashed(op, longHashLength)
		}
		named[name] = op
	}
	return named
}

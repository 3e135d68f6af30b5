package schema

import (
	"fmt"

	"github.com/agext/levenshtein"
)

// Nearest is the candidate a person most likely meant, or "" when none is near enough to be a misspelling.
func Nearest(word string, candidates []string) string {
	best, nearest := "", len(word)/3+2
	for _, candidate := range candidates {
		if d := levenshtein.Distance(word, candidate, nil); d < nearest && d < len(candidate) {
			best, nearest = candidate, d
		}
	}
	return best
}

// Hint is ` (did you mean "x"?)` for the nearest candidate, or "".
func Hint(word string, candidates []string) string {
	if near := Nearest(word, candidates); near != "" && near != word {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

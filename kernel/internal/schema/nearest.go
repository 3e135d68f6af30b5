package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// Nearest is the candidate a person most likely meant, or "" when none is near enough to be a misspelling, and none begins
// with the word.
func Nearest(word string, candidates []string) string {
	best, nearest := "", len(word)
	for _, candidate := range candidates {
		d := levenshtein.Distance(word, candidate, nil)
		if d <= errorsIn(word, candidate) && d < len(candidate) && (best == "" || d < nearest) {
			best, nearest = candidate, d
		}
	}
	if longer := begun(word, candidates); longer != "" && nearest > 1 {
		return longer
	}
	return best
}

// begun is the shortest candidate that a whole word is the beginning of, as "read" of "read_file".
func begun(word string, candidates []string) (best string) {
	for _, candidate := range candidates {
		rest, begins := strings.CutPrefix(candidate, word)
		if begins && word != "" && (strings.HasPrefix(rest, "_") || strings.HasPrefix(rest, "-")) && (best == "" || len(candidate) < len(best)) {
			best = candidate
		}
	}
	return best
}

// errorsIn is how many letters of a word may be wrong for it to be a misspelling of another: one in three, and one more
// where letters have only changed places, or one word begins with the other.
func errorsIn(word, other string) int {
	most := max(1, len(word)/3)
	if strings.HasPrefix(word, other) || strings.HasPrefix(other, word) || letters(word) == letters(other) {
		most++
	}
	return most
}

// letters are those of a word, in order.
func letters(word string) string {
	all := []rune(word)
	slices.Sort(all)
	return string(all)
}

// Hint is ` (did you mean "x"?)` for the nearest candidate, or "".
func Hint(word string, candidates []string) string {
	if near := Nearest(word, candidates); near != "" && near != word {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

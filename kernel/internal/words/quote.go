package words

import "strings"

// plain reports whether a byte stands for itself in a word without quotes.
func plain(c byte) bool {
	return c >= 0x80 || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		strings.IndexByte("_-./:=,+@%^~[]{}", c) >= 0
}

// NeedsQuotes reports whether a text has to be quoted to be one word, here and in a shell.
func NeedsQuotes(text string) bool {
	if text == "" {
		return true
	}
	for i := range len(text) {
		if !plain(text[i]) {
			return true
		}
	}
	return false
}

// Open is a text within quotes that are not closed yet, so that more can follow; quote is ' or ".
func Open(text string, quote byte) string {
	if quote == '"' {
		return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`, "$", `\$`, "`", "\\`").Replace(text)
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`)
}

// Quote is a text as one word, in quotes where it needs some.
func Quote(text string) string {
	switch {
	case !NeedsQuotes(text):
		return text
	case strings.Contains(text, "'") && !strings.ContainsAny(text, "\"\\$`"):
		return Open(text, '"') + `"`
	default:
		return Open(text, '\'') + "'"
	}
}

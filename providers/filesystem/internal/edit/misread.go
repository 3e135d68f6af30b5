package edit

import (
	"bytes"
	"html"
	"regexp"
	"strings"
)

// misreadings are ways in which a text gets other letters between being read and
// being given back.
var misreadings = []struct {
	right func(string) string
	why   string
}{
	{withoutNumbers, "the same text without line numbers"},
	{unescape.Replace, "the same text with line ends, tabs and quotes in place of escapes"},
	{html.UnescapeString, "the same text without HTML entities"},
	{straight.Replace, "the same text with straight quotes and plain dashes"},
}

var (
	unescape = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\'`, "'", `\\`, `\`)
	straight = strings.NewReplacer("“", `"`, "”", `"`, "‘", "'", "’", "'", "–", "-", "—", "-", "\u00a0", " ")
	numbered = regexp.MustCompile(`^ *[0-9]+(\t|→|: ?|\| ?)`)
)

// misread finds old as it may be meant, or returns nil.
func misread(body []byte, lines [][]byte, old string) *Near {
	for _, m := range misreadings {
		text := m.right(old)
		if text == old || strings.TrimSpace(text) == "" {
			continue
		}
		at := bytes.Index(body, []byte(text))
		if at < 0 {
			continue
		}
		if line := bytes.Count(body[:at], []byte{'\n'}); line < len(lines) {
			return near(lines, line, 1+strings.Count(strings.TrimSuffix(text, "\n"), "\n"), m.why)
		}
	}
	return nil
}

// withoutNumbers takes away what stands before each line where a file is shown
// with the numbers of its lines.
func withoutNumbers(s string) string {
	var out strings.Builder
	for line := range strings.Lines(s) {
		number := numbered.FindString(line)
		if number == "" {
			return s
		}
		out.WriteString(line[len(number):])
	}
	return out.String()
}

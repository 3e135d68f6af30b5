package paint

import "strings"

// escape keeps text from being read as Markdown or HTML.
func escape(s string) string {
	var b strings.Builder
	start := true // nothing but blanks and digits so far: a mark here would begin a block
	for _, r := range s {
		if strings.ContainsRune("\\`*_[]<>|&~", r) || start && strings.ContainsRune("#+-=.)", r) {
			b.WriteByte('\\')
		}
		start = start && (r == ' ' || r >= '0' && r <= '9')
		b.WriteRune(r)
	}
	return b.String()
}

// around puts marks at the ends of a text, blanks outside, as emphasis needs it.
func around(mark, s string) string {
	inner := strings.TrimSpace(s)
	if inner == "" {
		return s
	}
	before, after, _ := strings.Cut(s, inner)
	return before + mark + inner + mark + after
}

// fenced makes a code block with a fence longer than any run of backticks in it.
func fenced(language string, lines []string) []string {
	longest := 2
	for _, l := range lines {
		longest = max(longest, longestRun(l))
	}
	fence := strings.Repeat("`", longest+1)
	info := strings.Map(func(r rune) rune {
		if r == '`' || r == ' ' {
			return -1
		}
		return r
	}, Line(language))
	return append(append([]string{fence + info}, lines...), fence)
}

// span is inline code.
func span(s string) string {
	fence := strings.Repeat("`", longestRun(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// longestRun is the length of the longest run of backticks.
func longestRun(s string) int {
	longest, run := 0, 0
	for _, r := range s {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

package readonly

import (
	"strconv"
	"strings"
)

// awkOptions are those that POSIX has, without -f: a program in a file is not looked into.
var awkOptions = entry{operands: -1, options: map[string]need{"-F": always, "-v": always}}

// awk programs can write files and run programs. Those that may are refused on sight: the
// language is hard to read (is a slash a division or does it begin an expression?), so
// what is looked for is looked for in texts and comments too.
func (j *judge) awk(words []word) ([]word, error) {
	n, err := awkOptions.leading(words)
	if err != nil {
		return nil, err
	}
	if n >= len(words) {
		return nil, words[0].refuse("its program is missing")
	}
	program := words[n]
	if program.open {
		return nil, program.refuse("the program must be literal; put it in single quotes")
	}
	if why := awkProgram(program.text); why != "" {
		return nil, program.refuse(why)
	}
	for _, w := range words[n+1:] {
		if strings.Contains(w.text, "/inet") {
			return nil, w.refuse("awk may take it for a connection; write another path")
		}
		if w.open && w.mayBeOption() || strings.HasPrefix(w.text, "-") && !w.is("-") {
			return nil, w.refuse("it may be taken for an option; write ./ before it")
		}
	}
	return words, nil
}

func awkProgram(program string) string {
	for _, name := range []string{"system", "getline", "ARGV", "SYMTAB", "@", "/inet", "\\\n"} {
		if strings.Contains(program, name) {
			return "it contains " + strconv.Quote(name) + ", with which a program can run others or connect to them; use bash"
		}
	}
	if strings.Contains(strings.ReplaceAll(program, "||", ""), "|") {
		return "it contains |, with which a program can run others; use bash, or [ab] instead of a|b in an expression"
	}
	// Before the first brace there is no statement that could print, so > compares.
	statement := strings.IndexByte(program, '{')
	if statement >= 0 && strings.Contains(strings.ReplaceAll(program[statement:], ">=", ""), ">") {
		return "it contains > in a statement, with which a program can write files; compare before the braces or the other way round (0 < $1), or use bash"
	}
	return ""
}

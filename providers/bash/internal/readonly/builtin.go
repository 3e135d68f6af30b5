package readonly

import (
	"regexp"
	"strings"
	"sync"
)

// conversions are the parts of a format that printf of any shell only prints. bash has %n,
// which sets a variable and runs the commands in its index.
var conversions = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%%|%[-+ #0'*.0-9]*[hlLjzt]*[diouxXeEfFgGaAcsbq]`) })

func (j *judge) printf(words []word) ([]word, error) {
	rest := words[1:]
	if len(rest) > 0 && rest[0].is("--") {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return words, nil
	}
	format := rest[0]
	if format.open || len(rest) == len(words)-1 && strings.HasPrefix(format.text, "-") {
		return nil, format.refuse("the format must be literal and no option; write printf '%s\\n' and then what to print")
	}
	if strings.Contains(conversions().ReplaceAllString(format.text, ""), "%") {
		return nil, format.refuse("a conversion in it is not known to only print; use %s or %d")
	}
	return words, nil
}

// cd changes where the commands after it run. They may run where it began too, if there
// is no such directory.
func (j *judge) cd(words []word) ([]word, error) {
	rest := words[1:]
	if len(rest) > 0 && rest[0].is("--") {
		rest = rest[1:]
	}
	if len(rest) != 1 || rest[0].many || rest[0].text == "" || strings.HasPrefix(rest[0].text, "-") || rest[0].open && rest[0].text[0] != '/' {
		return nil, words[0].refuse("it takes one directory here, literal or in ~; or give it as cwd")
	}
	if j.loops > 0 {
		return nil, words[0].refuse("in a loop it leads somewhere else each time; write the paths out")
	}
	for _, before := range j.where {
		j.where = append(j.where, before+"cd -- "+rest[0].quoted+" && ")
	}
	if len(j.where) > maxPlaces {
		return nil, words[0].refuse("there are too many of them; use paths, or several calls")
	}
	return words, nil
}

// maxPlaces is how many directories a script may run commands in.
const maxPlaces = 16

var shellOptions = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-+][eux]*o?$`) })

func (j *judge) set(words []word) ([]word, error) {
	named := false
	for _, w := range words[1:] {
		switch {
		case named && w.is("pipefail"):
			named = false
		case named || w.open || len(w.text) < 2 || !shellOptions().MatchString(w.text):
			return nil, w.refuse("only -e, -u, -x and -o pipefail can be set")
		default:
			named = strings.HasSuffix(w.text, "o")
		}
	}
	if named || len(words) == 1 {
		return nil, words[0].refuse("it prints every variable; name an option")
	}
	return words, nil
}

var dateOptions = entry{operands: -1, options: map[string]need{
	"-d": always, "-r": always, "-u": never, "-R": never, "-I": maybe, "--date": always, "--reference": always,
	"--utc": never, "--universal": never, "--iso-8601": maybe, "--rfc-3339": always, "--rfc-email": never,
}}

// date prints with a format and sets the clock without one.
func (j *judge) date(words []word) ([]word, error) {
	operands, err := dateOptions.scan(words[1:])
	if err != nil {
		return nil, err
	}
	for _, w := range operands {
		if w.open || !strings.HasPrefix(w.text, "+") {
			return nil, w.refuse("it would set the clock; a format begins with +")
		}
	}
	return words, nil
}

var tarOptions = entry{operands: -1, options: map[string]need{
	"-t": never, "-v": never, "-z": never, "-j": never, "-J": never, "-a": never, "-f": always,
	"--list": never, "--verbose": never, "--gzip": never, "--bzip2": never, "--xz": never, "--zstd": never,
	"--auto-compress": never, "--file": always, "--exclude": always, "--wildcards": never, "--numeric-owner": never,
	"--full-time": never, "--utc": never, "--strip-components": always,
}}

var tarBundle = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[tvzjJa]*t[tvzjJa]*f?$`) })

// tar lists. What it is given first may be options without a dash.
func (j *judge) tar(words []word) ([]word, error) {
	rest := append([]word{}, words[1:]...)
	if len(rest) == 0 || rest[0].open {
		return nil, words[0].refuse("only listing an archive is allowed: tar tf ARCHIVE")
	}
	if tarBundle().MatchString(rest[0].text) {
		rest[0].text = "-" + rest[0].text
	}
	if !strings.HasPrefix(rest[0].text, "-") {
		return nil, rest[0].refuse("only listing an archive is allowed: tar tf ARCHIVE")
	}
	lists := false
	for i, w := range rest {
		bundle := len(w.text) > 1 && w.text[0] == '-' && w.text[1] != '-'
		lists = lists || w.is("--list") || bundle && tarBundle().MatchString(w.text[1:])
		archive, found := strings.CutPrefix(w.text, "--file=")
		if i > 0 && (strings.HasSuffix(rest[i-1].text, "f") || rest[i-1].is("--file")) && strings.HasPrefix(rest[i-1].text, "-") {
			archive, found = w.text, true
		}
		if found && strings.Contains(archive, ":") || bundle && !tarShort().MatchString(w.text) {
			return nil, w.refuse("tar may look for it on another machine, or it may be an option; write -f, a blank and a path without a colon")
		}
	}
	if _, err := tarOptions.scan(rest); err != nil {
		return nil, err
	}
	if !lists {
		return nil, words[0].refuse("only listing an archive is allowed: tar tf ARCHIVE")
	}
	return words, nil
}

// tarShort keeps the archive a word of its own.
var tarShort = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-[tvzjJa]*f?$`) })

func (j *judge) unzip(words []word) ([]word, error) {
	if len(words) < 3 || !words[1].is("-l", "-v", "-t", "-Z", "-Z1", "-lv") {
		return nil, words[0].refuse("only listing an archive is allowed: unzip -l ARCHIVE")
	}
	for _, w := range words[2:] {
		if w.mayBeOption() {
			return nil, w.refuse("options come first, and only -l, -t, -v and -Z are allowed")
		}
	}
	return words, nil
}

// golang allows what looks at nothing but the tool itself. go list and go vet may run
// other programs, and so may a toolchain that go.mod asks for: see Environment.
func (j *judge) golang(words []word) ([]word, error) {
	if len(words) > 1 && words[1].is("version") && len(words) == 2 {
		return words, nil
	}
	if len(words) > 2 && words[1].is("env") {
		for _, w := range words[2:] {
			if w.open || !goVariable().MatchString(w.text) || goCompiler().MatchString(w.text) {
				return nil, w.refuse("go env takes names of variables here, and not those for which it asks a compiler")
			}
		}
		return words, nil
	}
	return nil, words[0].refuse("go may run other programs, and downloads what go.mod asks for; only go version and go env NAME are allowed: use bash")
}

var (
	goVariable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`) })
	goCompiler = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:CGO_.*FLAGS|PKG_CONFIG|GOGCCFLAGS)$`) })
)

// briefly is what else some programs take for --version. Others mean "verbose" by -v, and
// go on to read a program from their standard input.
var briefly = map[string]string{"node": "-v", "python": "-V", "python3": "-V"}

// version allows to ask a program for its version, and nothing else.
func (j *judge) version(words []word) ([]word, error) {
	if short, ok := briefly[words[0].text]; len(words) == 2 && (words[1].is("--version") || ok && words[1].is(short)) {
		return words, nil
	}
	return nil, words[0].refuse(words[0].text + " runs code that is not looked into; only --version is allowed: use bash")
}

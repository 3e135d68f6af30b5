package readonly

import (
	"crypto/rand"
	"slices"
	"strings"
)

// gitSettings overrule what a repository's own configuration could make Git run. Hooks,
// monitors, pagers and drivers are programs that whoever wrote the repository chose.
var gitSettings = []string{
	"core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.editor=false", "core.alternateRefsCommand=false",
	"diff.external=", "diff.submodule=short", "diff.autoRefreshIndex=false", "status.submoduleSummary=false",
	"log.showSignature=false", "log.diffMerges=separate",
	"gpg.program=false", "gpg.openpgp.program=false", "gpg.x509.program=false", "gpg.ssh.program=false", "gpg.ssh.defaultKeyCommand=false",
	"safe.bareRepository=explicit",
}

// Environment is what scripts have to run with besides.
var Environment = map[string]string{
	"GIT_OPTIONAL_LOCKS": "0", // git status does not write the index
	"GIT_NO_LAZY_FETCH":  "1", // a missing object is not fetched, with whatever program
	// Nor with a Git that does not know the line above. This is a list of what is allowed,
	// and any name that can be guessed is one that a repository can have an alias for.
	"GIT_ALLOW_PROTOCOL":  rand.Text(),
	"GIT_PAGER":           "cat",
	"GIT_EDITOR":          "false",
	"GIT_TERMINAL_PROMPT": "0",
	"GOTOOLCHAIN":         "local",     // go does not download what go.mod asks for
	"TEST_TELEMETRY_DIR":  "/dev/null", // nor does it count in a file how often it is called
}

// gitFilters finds what cannot be overruled, because it has names that anybody can choose:
// filters that Git runs to compare a file with the index, what git-lfs has these run, and
// hooks. Those of the user's own configuration are the user's.
const gitFilters = ` config --show-scope --name-only --get-regexp '^(filter|lfs\.extension|hook)\..*\.(clean|smudge|process|command)$' 2>/dev/null || ` +
	`[ $? -ne 129 ] || printf 'local\tGit is too old to say\n')` + "\n"

// Hazards are the settings, of those that [Plan.Before] has printed, with which somebody
// else than the user could make Git run programs. If commands may write to the user's home
// directory, its settings may be somebody else's too.
func Hazards(printed string, home bool) []string {
	var found []string
	for line := range strings.Lines(printed) {
		scope, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		trusted := scope == "system" || scope == "command" || scope == "global" && !home
		if name != "" && !trusted && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found
}

// git judges git by its subcommand. Only those that are built in, and not on their way out,
// are on the list: an alias cannot have their names.
func (j *judge) git(words []word) ([]word, error) {
	n := 1
	at := ""
	for ; n < len(words) && words[n].is("-C", "--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects"); n++ {
		if !words[n].is("-C") {
			continue
		}
		if n++; n == len(words) || words[n].open || words[n].text == "" {
			return nil, words[n-1].refuse("it takes a literal directory")
		}
		at += " -C " + words[n].quoted
	}
	if n == len(words) || n == 1 && len(words) == 2 && words[1].is("--version") {
		return words, nil
	}
	e, sub, err := gitEntry(words[n:])
	if err != nil {
		return nil, err
	}
	rest := words[n+sub:]
	if !e.anything {
		operands, err := e.scan(rest)
		if err == nil {
			err = e.count(operands)
		}
		if err == nil {
			err = gitLists(words[n], rest, operands)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, before := range j.where {
		j.repositories = append(j.repositories, before+"git"+at)
	}
	overruled := entry{inserts: []string{"--no-pager"}}
	for _, setting := range gitSettings {
		overruled.inserts = append(overruled.inserts, "-c", setting)
	}
	return overruled.complete(e.complete(slices.Clone(words), n+sub), 1), nil
}

// gitEntry finds a subcommand, of one word or of two, and says which.
func gitEntry(words []word) (e entry, length int, err error) {
	sub := words[0]
	if sub.open {
		return e, 0, sub.refuse("which subcommand it is cannot be known; write it literally")
	}
	if strings.HasPrefix(sub.text, "-") {
		return e, 0, sub.refuse("this option may change what Git runs; leave it out or use bash")
	}
	if len(words) > 1 && !words[1].open {
		if e, ok := list()["git "+sub.text+" "+words[1].text]; ok {
			return e, 2, nil
		}
	}
	if e, ok := list()["git "+sub.text]; ok {
		return e, 1, nil
	}
	return e, 0, sub.refuse("this subcommand is not known to only read, or it is an alias; use bash")
}

// gitLists refuses the forms of a subcommand that change something: with a name, git
// branch makes one.
func gitLists(name word, words, operands []word) error {
	given := func(options ...string) bool {
		for _, w := range words {
			if w.is("--") {
				break
			}
			// git config takes no option after the first name: all that follows is a value.
			if name.text == "config" && !strings.HasPrefix(w.text, "-") {
				break
			}
			if w.is(options...) {
				return true
			}
		}
		return false
	}
	switch sub := name.text; {
	case sub == "branch" && len(operands) > 0 && !given("--list", "--merged", "--no-merged"),
		sub == "tag" && len(operands) > 0 && !given("--list", "-l", "--merged", "--no-merged"):
		return operands[0].refuse("it would be created; write --list before a pattern")
	case sub == "config" && len(operands) == 1 && !operands[0].open && strings.Contains(operands[0].text, ".") && allOptions(words[:len(words)-1]): // what it is
	case sub == "config" && !given("--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l"):
		return name.refuse("it may set a value; write --get or --list first")
	}
	return nil
}

// allOptions reports whether there is nothing but options.
func allOptions(words []word) bool {
	return !slices.ContainsFunc(words, func(w word) bool { return !strings.HasPrefix(w.text, "-") })
}

// before is the script that looks at the repositories.
func (j *judge) before() string {
	var b strings.Builder
	slices.Sort(j.repositories)
	for _, r := range slices.Compact(j.repositories) {
		b.WriteString("(" + r + gitFilters)
	}
	return b.String()
}

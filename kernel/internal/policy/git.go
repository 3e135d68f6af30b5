package policy

import (
	"path"
	"slices"
	"strings"
)

// gitOptions are what git takes before its subcommand, and whether a word of its own follows as the value. What it does not
// know it refuses; what it answers itself, as --version, is as good as a subcommand.
var gitOptions = map[string]bool{
	"-C": true, "-c": true, "--attr-source": true, "--config-env": true, "--git-dir": true, "--namespace": true, "--shallow-file": true,
	"--super-prefix": true, "--work-tree": true,
	"-P": false, "-p": false, "--bare": false, "--glob-pathspecs": false, "--icase-pathspecs": false, "--literal-pathspecs": false,
	"--no-advice": false, "--no-lazy-fetch": false, "--no-literal-pathspecs": false, "--no-optional-locks": false, "--no-pager": false,
	"--no-replace-objects": false, "--noglob-pathspecs": false, "--paginate": false,
}

// gitJoined are options that have their value behind an equals sign.
var gitJoined = []string{"--attr-source", "--config-env", "--exec-path", "--git-dir", "--namespace", "--super-prefix", "--work-tree"}

// gitAnswers are options that git answers itself.
var gitAnswers = []string{"--exec-path", "--help", "--html-path", "--info-path", "--man-path", "--version", "-h", "-v"}

// gitHarmless are sections and settings by which git runs nothing else, and no word means another.
var (
	gitHarmlessSections = []string{"advice", "author", "color", "column", "committer", "i18n", "log", "safe", "user", "versionsort"}
	gitHarmlessSettings = []string{
		"commit.gpgsign", "core.abbrev", "core.autocrlf", "core.eol", "core.filemode", "core.ignorecase", "core.quotepath",
		"diff.renames", "init.defaultbranch", "protocol.version", "tag.gpgsign",
	}
)

// gitCall is a command of git without what it is given before its subcommand.
type gitCall struct {
	// words are git and its subcommand; nil when nothing was to be taken off.
	words []word
	// loose is how many words have to be known for the command to be what it says: git is configured by them, may run
	// anything, and call anything by any name. 0: none.
	loose int
}

// readGit reads a command as git does; it is not ok for one of another program.
func readGit(words []word) (call gitCall, ok bool) {
	name := strings.TrimSuffix(strings.ToLower(path.Base(words[0].text)), ".exe")
	if sub, dashed := strings.CutPrefix(name, "git-"); dashed && words[0].fixed {
		return gitCall{words: append([]word{{text: "git", fixed: true}, {text: sub, fixed: true}}, words[1:]...)}, true
	}
	if name != "git" || !words[0].fixed {
		return gitCall{}, false
	}
	i := 1
	for i < len(words) && strings.HasPrefix(words[i].text, "-") || i < len(words) && !words[i].fixed && words[i].text == "" {
		n, loose := gitOption(words[i:])
		if loose {
			call.loose = i + n
		}
		if n == 0 {
			break
		}
		i += n
	}
	if i > 1 {
		call.words = append([]word{words[0]}, words[min(i, len(words)):]...)
	}
	return call, true
}

// gitOption is how many words an option at their beginning takes, 0 when it is none, and whether git may run anything by it.
func gitOption(words []word) (n int, loose bool) {
	text := words[0].text
	if !words[0].fixed { // may be any number of words, and any options
		return 1, true
	}
	if slices.Contains(gitAnswers, text) {
		return 0, false
	}
	if name, value, joined := strings.Cut(text, "="); joined && slices.Contains(gitJoined, name) {
		return 1, gitMayRun(name, word{text: value, fixed: true})
	}
	follows, known := gitOptions[text]
	switch {
	case !known: // of a later git
		return 1, true
	case !follows:
		return 1, false
	case len(words) == 1:
		return 1, false
	}
	return 2, gitMayRun(text, words[1])
}

// gitMayRun reports whether by the value of an option git may run something else, or mean something else by its words.
func gitMayRun(option string, value word) bool {
	switch option {
	case "-c":
		return !value.fixed || !gitHarmless(value.text)
	case "--config-env":
		setting, _, _ := strings.Cut(value.text, "=")
		return !value.fixed || !gitHarmless(setting)
	case "--exec-path":
		return true
	}
	return !value.fixed // may be several words
}

func gitHarmless(setting string) bool {
	name, _, _ := strings.Cut(strings.ToLower(setting), "=")
	section, _, _ := strings.Cut(name, ".")
	return slices.Contains(gitHarmlessSections, section) || slices.Contains(gitHarmlessSettings, name)
}

// isFor reports whether a pattern is one of a program.
func (p Command) isFor(program string) bool {
	return len(p.words) > 0 && wild(p.words[0], program, anyText)
}

// writesOut reports whether the first n words are in the pattern as they are, without a wildcard.
func (p Command) writesOut(n int) bool {
	return n <= len(p.words) && !slices.ContainsFunc(p.words[:n], func(w wordPattern) bool { return len(w) > 1 })
}

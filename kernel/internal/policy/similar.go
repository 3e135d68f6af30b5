package policy

import (
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"google.golang.org/protobuf/types/known/structpb"
)

// maxSimilar is how many commands may be shown in one question; nobody reads more.
const maxSimilar = 4

// Similar is a match of calls like this one: the same operation of the same provider with commands that begin alike, or
// with paths in the same folders. It is nil for a call of which nothing narrower than its operation can be said, and
// always certain about the call itself.
//
// A command begins with its program and what that is to do, as in "go test *", where the program is known to take one;
// else it is the whole command.
func Similar(c Call) *Match {
	if c.DecidingFile() != "" {
		return nil
	}
	m := &Match{Provider: c.Provider, ToolName: c.Operation}
	fields := c.Arguments.GetFields()
	if v, ok := fields["command"]; ok {
		text, isText := v.GetKind().(*structpb.Value_StringValue)
		if !isText {
			return nil
		}
		if m.Command = similarCommands(readScript(text.StringValue)); m.Command == nil {
			return nil
		}
	}
	paths, ok := Paths(c.Arguments)
	if !ok || len(paths)+len(m.Command) == 0 {
		return nil
	}
	m.Arguments = map[string]string{}
	for name, values := range paths {
		if name == "cwd" { // is about that folder, not about what is beside it
			m.Arguments[name] = escapeGlob(c.known(values[0]))
			continue
		}
		folder, one := c.folder(values)
		if !one {
			return nil
		}
		m.Arguments[name] = folder
	}
	s, err := New([]Rule{{Name: "similar", Match: *m, Action: Allow}})
	if err != nil || s.Decide(c).Rule == nil {
		return nil
	}
	return m
}

// Paths are the values of all arguments that are paths, by their names. It is not ok when one has a name that a match
// cannot have.
func Paths(args *structpb.Struct) (paths map[string][]string, ok bool) {
	paths, ok = map[string][]string{}, true
	collectPaths(args, "", func(name, value string, plain bool) {
		paths[name] = append(paths[name], value)
		ok = ok && plain
	})
	return paths, ok
}

func collectPaths(s *structpb.Struct, prefix string, found func(name, value string, plain bool)) {
	for _, key := range slices.Sorted(maps.Keys(s.GetFields())) {
		for _, one := range elements(s.GetFields()[key]) {
			switch kind := one.GetKind().(type) {
			case *structpb.Value_StringValue:
				if isPath(key) {
					found(prefix+key, kind.StringValue, !strings.Contains(key, ".") && plainText(kind.StringValue))
				}
			case *structpb.Value_StructValue:
				collectPaths(kind.StructValue, prefix+key+".", found)
			}
		}
	}
}

// plainText reports whether a person sees all of a value that they are shown.
func plainText(value string) bool {
	return value != "" && !strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) })
}

// folder is a glob of the folder that all the paths are in, without those below it.
func (p Place) folder(paths []string) (glob string, one bool) {
	for i, value := range paths {
		at := p.known(value)
		dir := at[:strings.LastIndexByte(at, '/')+1]
		if i > 0 && dir != glob {
			return "", false
		}
		glob = dir
	}
	return escapeGlob(glob) + "*", true
}

// known is a path as globs have it: from the root if it is there, else absolute.
func (p Place) known(value string) string {
	if rel, inside := p.relative(value); inside {
		return rel
	}
	return filepath.ToSlash(p.absolute(value))
}

func escapeGlob(text string) string { return globSpecial().ReplaceAllString(text, `\$0`) }

var globSpecial = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\\*?\[\]{}]`) })

// similarCommands are patterns of the commands of a script; nil when they cannot be told, or are too many.
func similarCommands(s *script) []string {
	if s.problem != "" || len(s.commands) > maxSimilar {
		return nil
	}
	var patterns []string
	for _, words := range s.commands {
		n, rest := beginning(words)
		if n == 0 {
			return nil
		}
		var quoted []string
		for _, w := range words[:n] {
			if !w.fixed {
				return nil
			}
			quoted = append(quoted, quote(w.text))
		}
		if rest {
			quoted = append(quoted, "*")
		}
		if p := strings.Join(quoted, " "); !slices.Contains(patterns, p) {
			patterns = append(patterns, p)
		}
	}
	return patterns
}

// doers are programs whose first word is what they are to do.
var doers = []string{
	"bundle", "cargo", "composer", "dotnet", "gh", "git", "go", "helm", "just", "kubectl", "npm", "pip", "pip3", "pnpm", "poetry",
	"rustup", "task", "terraform", "uv", "yarn",
}

// runners are what such programs do with another program, which is a part of what they do.
var runners = []string{"dlx", "exec", "mod", "run", "tool", "x"}

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9:_-]*$`) })

// takers are what such programs do with whatever command they are given, or keep for later.
var takers = []string{
	"gh alias", "gh extension", "git bisect", "git config", "git difftool", "git filter-branch", "git mergetool", "git rebase", "git submodule",
	"go generate", "helm plugin", "kubectl debug", "kubectl exec", "kubectl run", "npm config", "npm explore", "yarn config",
}

// interpreters are, beside shells and wrappers, programs whose arguments may be a program.
var interpreters = []string{"awk", "bun", "deno", "lua", "node", "perl", "php", "python", "python2", "python3", "ruby", "tsx", "ts-node"}

// runsAnything reports whether a program does whatever its arguments say.
func runsAnything(program string) bool {
	name := path.Base(program)
	return slices.Contains(interpreters, name) || slices.Contains(wrappers, name)
}

// beginning is how many words say what a command does, and whether what follows may differ.
func beginning(words []word) (n int, rest bool) {
	if len(words) < 2 || !slices.Contains(doers, words[0].text) || !words[1].fixed || !plainWord().MatchString(words[1].text) {
		return len(words), false
	}
	if slices.Contains(takers, words[0].text+" "+words[1].text) {
		return len(words), false
	}
	if !slices.Contains(runners, words[1].text) {
		return 2, true
	}
	if len(words) < 3 || !words[2].fixed || strings.HasPrefix(words[2].text, "-") || runsAnything(words[2].text) {
		return len(words), false
	}
	return 3, true
}

// quote writes a word as a pattern has it.
func quote(text string) string {
	if bare().MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

var bare = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./:@%+,-]+$`) })

package policy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is certain is what an allow needs, what is possible is enough for a deny.
func TestCommands(t *testing.T) {
	goTest := []string{"go test *", "git status"}
	deny := []string{"rm *", "git push *", "curl * --upload-file *"}
	tests := []struct {
		name     string
		patterns []string
		script   string
		want     fit
	}{
		{"as shown", goTest, "go test ./...", certain},
		{"no further words", goTest, "go test", certain},
		{"many further words", goTest, "go test -run 'A|B' -count=1 ./a ./b", certain},
		{"whole", goTest, "git status", certain},
		{"blanks", goTest, "  go \t test   ./...  ", certain},
		{"quotes", goTest, `"go" 'test' ./...`, certain},
		{"quotes within a word", goTest, `g"o" te'st'`, certain},
		{"backslash", goTest, `\go t\est`, certain},
		{"continued line", goTest, "go \\\n test ./...", certain},
		{"comment", goTest, "go test ./... # and rm -rf /", certain},
		{"semicolon", goTest, "go test; git status", certain},
		{"newline", goTest, "go test\ngit status", certain},
		{"and", goTest, "go test && git status", certain},
		{"or", goTest, "go test || git status", certain},
		{"pipe", goTest, "go test | git status", certain},
		{"pipe with stderr", goTest, "go test |& git status", certain},
		{"negated", goTest, "! go test", certain},
		{"streams joined", goTest, "go test 2>&1", certain},
		{"stream closed", goTest, "go test 2>&-", certain},
		{"stderr thrown away", goTest, "go test 2>/dev/null", certain},
		{"nothing to read", goTest, "go test </dev/null", certain},
		{"names of files among further words", goTest, "go test *_test.go", certain},
		{"braces among further words", goTest, "go test ./{a,b}", certain},
		{"home among further words", goTest, "go test ~/x", certain},
		{"joiners in quotes", goTest, `go test -run 'a;b && c | d > e $(f)'`, certain},
		{"revision", []string{"git show HEAD~1"}, "git show HEAD~1", certain},

		{"nothing", goTest, "", none},
		{"a comment alone", goTest, "# go test", none},
		{"a word more", goTest, "git status -s", none},
		{"a word less", goTest, "go", none},
		{"another word", goTest, "go vet", none},
		{"begins alike", goTest, "go testx", none},
		{"one word of it", goTest, "'go test'", none},
		{"upper case", goTest, "go TEST", none},
		{"another beside it", goTest, "go vet; make", none},
		{"lookalike letter", goTest, "gо test", none}, // the o is Cyrillic

		{"path", goTest, "/tmp/go test", possible},
		{"path here", goTest, "./go test", possible},
		{"then another", goTest, "go test; rm -rf /", possible},
		{"newline, another", goTest, "go test\nrm -rf /", possible},
		{"and another", goTest, "go test && rm -rf /", possible},
		{"or another", goTest, "go test || rm -rf /", possible},
		{"pipe to another", goTest, "go test | sh", possible},
		{"another before", goTest, "rm -rf /; go test", possible},
		{"to a file", goTest, "go test > ~/.bashrc", possible},
		{"to a file, forced", goTest, "go test >| x", possible},
		{"to the end of a file", goTest, "go test >> x", possible},
		{"both thrown away, or in the background", goTest, "go test &>/dev/null", possible},
		{"both to a file", goTest, "go test &> x", possible},
		{"both to a file, older", goTest, "go test >& x", possible},
		{"numbered to a file", goTest, "go test 2> x", possible},
		{"from a file", goTest, "go test < x", possible},
		{"from and to a file", goTest, "go test <> x", possible},
		{"to a variable", goTest, "go test >/dev/null{a,b}", possible},
		{"opens a variable", goTest, "go test {fd}>/dev/null", possible},
		{"to almost nothing", goTest, "go test > /dev/null/../sda", possible},
		{"text as input", goTest, "go test <<EOF\nx\nEOF", possible},
		{"string as input", goTest, "go test <<< x", possible},
		{"redirection alone", goTest, "go test; > x", possible},
		{"whole redirected", goTest, "{ go test; } > x", possible},
		{"substitution", goTest, "go test $(rm -rf /)", possible},
		{"substitution in quotes", goTest, `go test "$(rm -rf /)"`, possible},
		{"backquotes", goTest, "go test `rm -rf /`", possible},
		{"process substitution", goTest, "go test <(rm -rf /)", possible},
		{"process substitution out", goTest, "go test >(rm -rf /)", possible},
		{"variable", goTest, "go test $X", possible},
		{"variable in quotes", goTest, `go test "$X"`, possible},
		{"variable with a default", goTest, "go test ${X:-$(rm -rf /)}", possible},
		{"arithmetic", goTest, "go test $((a[$(rm -rf /)]))", possible},
		{"extended pattern", goTest, "go test !(a)", possible},
		{"C quotes", goTest, `go test $'\x72m'`, possible},
		{"translated", goTest, `go test $"x"`, possible},
		{"variable as command", goTest, "$X test", possible},
		{"variable as word", goTest, "go $X", possible},
		{"braces as command", goTest, "{go,test}", possible},
		{"glob as command", goTest, "g? test", possible},
		{"assignment before", goTest, "GOFLAGS=-exec=evil go test", possible},
		{"assignment apart", goTest, "PATH=/tmp; go test", possible},
		{"exported", goTest, "export PATH=/tmp; go test", possible},
		{"background", goTest, "go test &", possible},
		{"background and more", goTest, "go test & git status", possible},
		{"function", goTest, "go() { rm -rf /; }; go test", possible},
		{"function keyword", goTest, "function go { rm -rf /; }\ngo test", possible},
		{"alias", goTest, "alias go=rm\ngo test", possible},
		{"subshell", goTest, "(go test)", possible},
		{"block", goTest, "{ go test; }", possible},
		{"condition", goTest, "if go test; then rm -rf /; fi", possible},
		{"loop", goTest, "while go test; do :; done", possible},
		{"case", goTest, "case x in x) go test;; esac", possible},
		{"timed", goTest, "time go test", possible},
		{"coprocess", goTest, "coproc go test", possible},
		{"eval", goTest, "eval 'go test'", possible},
		{"eval in words", goTest, "eval go test", possible},
		{"exec", goTest, "exec go test", possible},
		{"command", goTest, "command go test", possible},
		{"sudo", goTest, "sudo go test", possible},
		{"env", goTest, "env GOFLAGS=x go test", possible},
		{"shell", goTest, "sh -c 'go test'", possible},
		{"trap", goTest, "trap 'go test' EXIT", possible},
		{"hash", goTest, "hash -p /tmp/evil go; go test", possible},
		{"carriage return", goTest, "go test\r", possible},
		{"NUL", goTest, "go test\x00", possible},
		{"no-break space", goTest, "go test\u00a0x", possible},
		{"text turned round", goTest, "go test \u202ex", possible},
		{"not UTF-8", goTest, "go test \xff", possible},
		{"line continued within a sign", goTest, "go test \"$\\\n(rm -rf /)\"", possible}, // the shell reads $(rm -rf /)
		{"line continued within a quote of C", goTest, "go test $\\\n'\\x72m'", possible},
		{"line continued within a word", goTest, "go te\\\nst ./...", certain},
		{"a comment that seems to go on", goTest, "go test #\\\nrm -rf /", possible}, // to the shell the second line is a command
		{"a comment that seems to go on, further on", goTest, "go test; # see x \\\nrm -rf /", possible},
		{"open quote", goTest, "go test '", possible},
		{"not closed", goTest, "go test (", possible},
		{"too long", goTest, "go test " + strings.Repeat("x", maxScript), possible},
		{"too deep", goTest, strings.Repeat("(", 2000) + "go test" + strings.Repeat(")", 2000), possible},

		{"evaluator that a pattern names", []string{"*"}, "eval x", possible},
		{"shell that a pattern names", []string{"*"}, "bash -c x", possible},
		{"shell that reads its input", []string{"echo *", "sh"}, "echo rm | sh", possible},
		{"shell by its path", []string{"*"}, "/bin/sh -c x", possible},
		{"shell with a script", []string{"sh build.sh"}, "sh build.sh", certain},
		{"subscript", []string{"test *"}, "test -v 'a[$(rm -rf /)]'", possible},
		{"printf into a variable", []string{"printf *"}, "printf -v PATH /tmp", possible},
		{"printf", []string{"printf *"}, `printf '%s\n' x`, certain},
		{"source", []string{"*"}, ". ./x", possible},
		{"everything", []string{"*"}, "make -j2 all", certain},

		{"glob in a word", []string{"./scripts/*.sh"}, "./scripts/a.sh", certain},
		{"glob stops at a slash", []string{"./scripts/*.sh"}, "./scripts/b/a.sh", possible},
		{"glob does not go up", []string{"./*/run"}, "./../run", possible},
		{"glob is no option", []string{"rm *.tmp x"}, "rm -rf.tmp x", possible},
		{"glob is no empty word", []string{"cat * x"}, "cat '' x", possible},
		{"glob behind an option", []string{"go test -run=*"}, "go test -run=X", certain},
		{"glob and further words", []string{"go test -run=*"}, "go test -run=X y", none},
		{"glob of files for a glob", []string{"rm *.tmp x"}, "rm *.tmp x", possible},
		{"glob of braces that are two words", []string{"cat d/*"}, "cat d/a{},b}", possible}, // d/a} d/ab
		{"glob of braces that begin with a pair", []string{"cat *d"}, `cat ""{},b}d`, possible},
		{"a pair of braces", []string{"echo {}"}, "echo {}", certain},
		{"two globs", []string{"cp a*b*c"}, "cp aXbYc", certain},
		{"two globs, the wrong way round", []string{"cp a*b*c"}, "cp acb", none},
		{"quoted star", []string{"echo '*'"}, "echo '*'", certain},
		{"quoted star is no glob", []string{"echo '*'"}, "echo x", none},
		{"words with blanks", []string{`git commit -m "a b"`}, "git commit -m 'a b'", certain},
		{"brackets", []string{"[ -f x ]"}, "[ -f x ]", certain},

		{"denied", deny, "rm -rf /", certain},
		{"denied by its path", deny, "/bin/rm -rf /", possible},
		{"denied in upper case", deny, "/BIN/RM x", possible},
		{"denied behind another", deny, "cd x && git push --force", possible},
		{"denied in a loop", deny, "for f in *; do rm $f; done", possible},
		{"denied in a function", deny, "f() { rm x; }", possible},
		{"denied in a substitution", deny, `echo "$(rm x)"`, possible},
		{"denied in a substitution in a default", deny, `echo ${X:-"$(rm x)"}`, possible},
		{"denied with a variable", deny, "X=1 rm x", possible},
		{"denied to a file", deny, "rm x > y", possible},
		{"denied in the background", deny, "rm x &", possible},
		{"denied behind sudo", deny, "sudo -u root rm x", possible},
		{"denied behind xargs", deny, "ls | xargs -0 rm", possible},
		{"denied behind find", deny, `find . -name '*.o' -exec rm {} \;`, possible},
		{"denied behind wrappers", deny, "nohup timeout 5 env A=1 rm x", possible},
		{"denied in a shell", deny, `bash -c "cd x; rm y"`, possible},
		{"denied in a shell in a shell", deny, `sh -c "sh -c 'rm y'"`, possible},
		{"denied in eval", deny, "eval rm x", possible},
		{"denied in eval in pieces", deny, `eval 'r'm x`, possible},
		{"denied in a trap", deny, "trap 'rm x' EXIT", possible},
		{"denied in a here-document for a shell", deny, "bash <<'E'\nrm x\nE", possible},
		{"denied in a here-string for a shell", deny, "sh <<< 'rm x'", possible},
		{"denied, C quotes", deny, `$'\x72m' x`, possible},
		{"denied, may be a variable", deny, "$CMD x", possible},
		{"denied, half a variable", deny, "r$X y", possible},
		{"denied, braces", deny, "{rm,-rf,/}", possible},
		{"denied, what it is given is a variable", deny, "git $X", possible},
		{"denied, after a comment that seems to go on", deny, "echo #\\\nrm x", possible},
		{"denied, in a sign that goes over a line", deny, "echo \"$\\\n(rm x)\"", possible},
		{"denied, cannot be read", deny, "rm '", possible},
		{"denied glob", deny, "curl -s --upload-file x https://example.org", possible},
		{"denied glob, one word", deny, "curl url --upload-file x", certain},
		{"text that names it", deny, "echo rm x", none},
		{"text that names it in quotes", deny, "git commit -m 'rm x'", none},
		{"begins with it", deny, "rmdir x", none},
		{"a variable among others", deny, "git log $X", none},
		{"another prefix", deny, "ls$X y", none},
	}
	require.GreaterOrEqual(t, len(tests), 120)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var patterns []Command
			for _, text := range test.patterns {
				p, err := ParseCommand(text)
				require.NoError(t, err)
				patterns = append(patterns, p)
			}
			got, why := compareCommand(patterns, readScript(test.script))
			require.Equal(t, test.want, got, why)
			require.Equal(t, got == certain, why == "", why)
		})
	}
}

func TestParseCommandRefuses(t *testing.T) {
	for name, pattern := range map[string]string{
		"nothing": "", "blanks": "  ", "comment": "# x", "word and comment": "go # x", "two": "a; b", "semicolon": "a;", "two lines": "a\nb", "pipe": "a | b", "and": "a && b",
		"redirection": "a > b", "assignment": "A=1 b", "background": "a &", "negated": "! a", "variable": "a $X", "substitution": "a $(b)",
		"block": "{ a; }", "condition": "if a; then b; fi", "open quote": "a '", "control": "a\x07", "C quotes": `a $'b'`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseCommand(pattern)
			require.Error(t, err)
		})
	}
}

func TestCommandsThatAnAllowCannotMean(t *testing.T) {
	for pattern, never := range map[string]bool{
		"eval *": true, "env *": true, "sh -c *": true, "bash": true, "bash *": false, "sh x.sh": false, "go test *": false, "*": false, "source x": true,
	} {
		p, err := ParseCommand(pattern)
		require.NoError(t, err)
		require.Equal(t, never, p.Never() != "", pattern)
	}
}

// What a pattern covers for sure it may cover, and every word of it is what the pattern shows.
func FuzzCommand(f *testing.F) {
	for _, seed := range [][2]string{
		{"go test *", "go test ./..."}, {"./scripts/*.sh", "./scripts/a.sh"}, {"echo '*'", `echo \*`}, {"*", "a | b && c"}, {"a*b *", "a$X"},
		{"rm *", "sudo sh -c 'rm x'"}, {"git status", "git status;git\tstatus"}, {"[ *", "[ a ]"}, {"a", "a <<E\nE"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		p, err := ParseCommand(pattern)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		s := readScript(text)
		fits, why := compareCommand([]Command{p}, s)
		require.Equal(t, fits == certain, why == "")
		if fits != certain {
			return
		}
		require.NotEmpty(t, s.commands)
		for _, words := range s.commands {
			require.True(t, p.mayCover(words), "%q covers %q, but may not cover it", pattern, text)
			require.Empty(t, evaluates(words))
			for _, w := range words[:len(p.words)] {
				require.True(t, w.fixed)
			}
		}
		// Written behind any other command it is that command's too.
		other, _ := surelyCovered([]Command{p}, readScript("agent-fuzz-other x\n"+text))
		if !p.Everything() && !p.words[0].is("agent-fuzz-other") {
			require.False(t, other)
		}
	})
}

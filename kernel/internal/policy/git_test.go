package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What git is given before its subcommand does not hide that from a deny, and is no part of what an allow shows.
func TestGitOptions(t *testing.T) {
	push, status, anyGit := []string{"git push *"}, []string{"git status"}, []string{"git *"}
	tests := []struct {
		name     string
		patterns []string
		script   string
		want     fit
	}{
		{"folder", push, "git -C . push", possible},
		{"two folders", push, "git -C a -C b push origin", possible},
		{"no pager", push, "git --no-pager push", possible},
		{"pager", push, "git -p push", possible},
		{"repository", push, "git --git-dir .git --work-tree=. push", possible},
		{"pathspecs", push, "git --literal-pathspecs --no-replace-objects --bare push", possible},
		{"namespace", push, "git --namespace x push", possible},
		{"behind sudo", push, "sudo git -C . push", possible},
		{"in a shell", push, `sh -c "git -C . push"`, possible},
		{"by its path", push, "/usr/bin/git --no-pager push", possible},
		{"as on Windows", push, "Git.EXE -C . push", possible},
		{"quoted", push, `git '-C' "." 'push'`, possible},
		{"its own program", push, "/usr/lib/git-core/git-push origin", possible},
		{"an alias", push, "git -c alias.x=push x", possible},
		{"an alias in capitals", push, "git -c ALIAS.x=push x", possible},
		{"a program for the editor", push, "git -c core.editor='git push' commit", possible},
		{"a setting from a variable", push, "git --config-env=alias.x=HOME x", possible},
		{"a setting from a variable, apart", push, "git --config-env alias.x=HOME x", possible},
		{"other programs", push, "git --exec-path=/tmp x", possible},
		{"an option of a later git", push, "git --new-option x", possible},
		{"what a variable holds", push, "git -C $DIR log", possible},
		{"options in a variable", push, "git $OPTIONS log", possible},
		{"half of an option", push, "git -$X log", possible},
		{"another subcommand", push, "git -C . log", none},
		{"another subcommand, with push for a folder", push, "git -C push log", none},
		{"an option's value left out", push, "git -C", none},
		{"a harmless setting", push, "git -c user.name=x -c Core.QuotePath=off commit -m push", none},
		{"a harmless setting from a variable", push, "git --config-env=user.name=NAME commit", none},
		{"a harmless setting, and push", push, "git -c user.name=x push", possible},
		{"an answer of git itself", push, "git --exec-path push", none},
		{"its version", push, "git --version push", none},
		{"another program", push, "got -C . push", none},
		{"a deny of another program", []string{"go *"}, "git -c alias.x=push x", none},

		{"an allow without options", status, "git -C . status", possible},
		{"an allow and an alias", status, "git -c alias.status='!sh' status", possible},
		{"everything of git", anyGit, "git -C . status", certain},
		{"everything of git, and an alias", anyGit, "git -c alias.x='!sh' x", possible},
		{"everything of git, and a program", anyGit, "git -c core.pager=sh log", possible},
		{"everything of git, and programs elsewhere", anyGit, "git --exec-path=/tmp log", possible},
		{"everything of git, and what is harmless", anyGit, "git -c user.name=x commit", certain},
		{"everything, and an alias", []string{"*"}, "git -c alias.x='!sh' x", possible},
		{"written out", []string{"git -c core.pager=less log *"}, "git -c core.pager=less log -1", certain},
		{"written out, but for the value", []string{"git -c * log"}, "git -c core.pager=sh log", possible},
	}
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
		})
	}
}

// What is read as the subcommand is what git takes for one.
func TestGitReadsItsOptionsAlike(t *testing.T) {
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	for option, follows := range gitOptions {
		if slices.Contains([]string{"--super-prefix", "--no-advice", "--no-lazy-fetch", "--attr-source"}, option) {
			continue // not every git has them
		}
		args := []string{option}
		if follows {
			args = append(args, map[string]string{"-c": "user.name=x", "--config-env": "user.name=HOME", "-C": ".", "--git-dir": ".git", "--namespace": "x"}[option])
			if args[1] == "" {
				args[1] = "."
			}
		}
		requireReached(t, dir, args...)
	}
	for _, option := range gitJoined {
		value := map[string]string{"--config-env": "user.name=HOME", "--git-dir": ".git", "--namespace": "x", "--work-tree": "."}[option]
		if option != "--super-prefix" && option != "--attr-source" && option != "--exec-path" {
			requireReached(t, dir, option+"="+value)
		}
	}
	for _, option := range append(slices.Clone(gitAnswers), "--not-an-option", "-cuser.name=x", "-C.") {
		if option != "--help" && option != "-h" { // show a page about the subcommand
			require.NotEqual(t, "made", reached(t, dir, option), option)
		}
	}
	require.Equal(t, "made", reached(t, dir, "-c", "alias.x=!echo made", "x"), "an alias is a command of any kind")
}

func requireReached(t *testing.T, dir string, options ...string) {
	t.Helper()
	require.Equal(t, "made", reached(t, dir, append(options, "-c", "alias.probe=!echo made", "probe")...), options)
	words := []word{{text: "git", fixed: true}}
	for _, text := range append(options, "probe") {
		words = append(words, word{text: text, fixed: true})
	}
	call, ok := readGit(words)
	require.True(t, ok)
	require.Equal(t, "git probe", shownWords(call.words), options)
}

// reached is the last line that git writes.
func reached(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "GIT_CONFIG_NOSYSTEM=1")
	out, _ := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

// A command that cannot be read says what of it cannot be.
func TestWhyACommandCannotBeRead(t *testing.T) {
	for name, test := range map[string]struct{ script, why string }{
		"too long":         {"ls " + strings.Repeat("x", maxScript), "it is 65539 bytes long, and what is longer than 65536 is not read"},
		"control":          {"ls é\x1b[0m", "character 5 of it is U+001B, a control character, which not everybody sees"},
		"turned round":     {"ls \u202ex", "character 4 of it is U+202E, which turns text round for those who see it"},
		"no width":         {"l\u200bs", "character 2 of it is U+200B, which not everybody sees"},
		"not UTF-8":        {"ls \xff", "it is not UTF-8: character 4 is the byte 0xFF"},
		"no script":        {"ls (", "it cannot be read as a shell script: "},
		"deeper than read": {"eval eval eval eval eval eval eval ls", "it holds scripts within scripts, more than 5 deep"},
		"many":             {strings.Repeat("ls;", maxFound+2), "it runs more than 4096 commands"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := ParseCommand("git push *")
			require.NoError(t, err)
			fits, why := compareCommand([]Command{p}, readScript(test.script))
			require.Equal(t, possible, fits)
			require.Contains(t, why, "its command cannot be read, so it may be one of these: "+test.why)
		})
	}
}

package readonly

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// table reads a file of testdata: comments begin with # and a blank.
func table(t testing.TB, file string) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	require.NoError(t, err)
	var lines []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line != "" && (!strings.HasPrefix(line, "# ") || strings.Contains(line, " ⇒ ")) {
			lines = append(lines, unmark.Replace(line))
		}
	}
	return lines
}

var unmark = strings.NewReplacer("⏎", "\n", "␍", "\r")

func TestAllowed(t *testing.T) {
	var rules Rules
	for _, script := range table(t, "allowed.txt") {
		t.Run(script, func(t *testing.T) {
			plan, err := rules.Check(script)
			require.NoError(t, err)
			requireLiteral(t, plan.Script)
			again, err := rules.Check(script)
			require.NoError(t, err)
			require.Equal(t, plan, again)
		})
	}
}

func TestRefused(t *testing.T) {
	var rules Rules
	for _, line := range table(t, "refused.txt") {
		word, script, found := strings.Cut(line, " ⇒ ")
		require.True(t, found, line)
		t.Run(script, func(t *testing.T) {
			plan, err := rules.Check(script)
			var refused *Refused
			require.True(t, errors.As(err, &refused), "allowed: %s", plan.Script)
			require.Equal(t, word, strings.Trim(refused.Word, " "), refused.Why)
			require.NotEmpty(t, refused.Why)
		})
	}
}

func TestNewRules(t *testing.T) {
	rules, err := NewRules([]string{"terraform show", "terraform plan", "kubectl", "docker ps", "docker"})
	require.NoError(t, err)
	for script, allowed := range map[string]bool{
		"terraform show -json":                 true,
		"terraform plan -out=x":                true, // whatever the arguments do
		"terraform apply":                      false,
		"terraform -chdir=x show":              false, // the first argument is not show
		"terraform":                            false,
		"terraform $(x)":                       false,
		"terraform show > x":                   false,
		"kubectl delete pod x":                 true,
		"docker run x":                         true, // the shorter form wins
		"timeout 5 kubectl get pods | head":    true,
		"for x in show; do terraform $x; done": false,
	} {
		_, err := rules.Check(script)
		require.Equal(t, allowed, err == nil, "%s: %v", script, err)
	}
	for _, entry := range []string{"", " ", "a b c", "sh", "sudo ls", "xargs", "bash -c", "./x", "/bin/x", "-x", "a;b", "a  b", "$x", "eval"} {
		_, err := NewRules([]string{entry})
		require.Error(t, err, entry)
	}
}

// The shell reads what is written down again as the same words.
func TestScript(t *testing.T) {
	for script, want := range map[string]string{
		`l\s -"l" 'a b'`:              `'ls' '-l' 'a b'`,
		`echo it\'s $'\t'`:            `'echo' 'it'\''s' '	'`,
		`echo {a,b}"c"*`:              `'echo' 'ac'* 'bc'*`,
		`cat ~/x "$HOME"/y | wc`:      `'cat' ~/'x' "${HOME:-/}"'/y' | 'wc'`,
		`ls &>/dev/null || true`:      `'ls' >/dev/null 2>&1 || 'true'`,
		`sed -n p a`:                  `'sed' '--sandbox' '-n' 'p' 'a'`,
		`timeout 5 sed p`:             `'timeout' '5' 'sed' '--sandbox' 'p'`,
		`ls "" # comment`:             `'ls' ''`,
		"ls \\\n -l;pwd":              "'ls' '-l'\n'pwd'",
		`if true;then ls;fi`:          "if 'true'\nthen\n'ls'\nfi",
		`for f in a b;do ls $f; done`: "for f in 'a' 'b'; do\n'ls' \"${f}\"\ndone",
	} {
		plan, err := (&Rules{}).Check(script)
		require.NoError(t, err, script)
		require.Equal(t, want, plan.Script)
		require.Empty(t, plan.Before)
	}
}

// Every repository that Git may look at is asked about its filters.
func TestBefore(t *testing.T) {
	plan, err := (&Rules{}).Check(`cd a && git -C b status; git log`)
	require.NoError(t, err)
	for _, way := range []string{"git -C 'b' config", "git config", "cd -- 'a' && git -C 'b' config", "cd -- 'a' && git config"} {
		require.Contains(t, plan.Before, "("+way)
	}
	require.Equal(t, 4, strings.Count(plan.Before, "\n"))
}

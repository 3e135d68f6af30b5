package readonly

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzCheck looks for a script that panics, that is allowed and not literal, or whose
// rewritten form is not allowed itself.
func FuzzCheck(f *testing.F) {
	for _, script := range table(f, "allowed.txt") {
		f.Add(script)
	}
	for _, line := range table(f, "refused.txt") {
		_, script, _ := strings.Cut(line, " ⇒ ")
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script string) {
		plan, err := (&Rules{}).Check(script)
		if err != nil {
			var refused *Refused
			require.ErrorAs(t, err, &refused)
			require.NotEmpty(t, refused.Why)
			return
		}
		requireLiteral(t, plan.Script)
	})
}

// Pieces of the tables put together at random, in the few ways that matter.
func TestMutations(t *testing.T) {
	scripts := table(t, "allowed.txt")
	for _, line := range table(t, "refused.txt") {
		_, script, _ := strings.Cut(line, " ⇒ ")
		scripts = append(scripts, script)
	}
	random := rand.New(rand.NewPCG(1, 2))
	allowed := 0
	for range 50_000 {
		a, b := []rune(scripts[random.IntN(len(scripts))]), []rune(scripts[random.IntN(len(scripts))])
		glue := []string{"", " ", "\n", ";", "|", "&&", "\\", "'", "\"", "{", "}", "(", "$", "`", "<", ">", "--", " -", "*", "~", "#"}[random.IntN(21)]
		script := string(a[:random.IntN(len(a)+1)]) + glue + string(b[random.IntN(len(b)):])
		if plan, err := (&Rules{}).Check(script); err == nil {
			allowed++
			requireLiteral(t, plan.Script)
		}
	}
	require.Greater(t, allowed, 1000, "too few of them mean anything")
}

func TestHugeScripts(t *testing.T) {
	for name, script := range map[string]string{
		"too long":         strings.Repeat("ls;", maxScript),
		"deep":             strings.Repeat("(", maxScript/2) + "ls" + strings.Repeat(")", maxScript/2-2),
		"deep and open":    strings.Repeat("(", maxScript),
		"negations":        strings.Repeat("! ", maxScript/2-2) + "ls",
		"deep quotes":      `ls "` + strings.Repeat(`${x:-"`, maxScript/8),
		"braces":           "echo " + strings.Repeat("{a,", maxScript/4),
		"many words":       strings.Repeat("{a,a}{a,a}{a,a}{a,a}{a,a}{a,a} ", maxScript/32),
		"one word":         strings.Repeat("x", maxScript-1) + "(",
		"many directories": strings.Repeat("cd a;", 100) + "git status",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := (&Rules{}).Check(script)
			var refused *Refused
			require.ErrorAs(t, err, &refused)
			require.Less(t, len(refused.Error()), 1000)
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	rules := &Rules{}
	for b.Loop() {
		_, err := rules.Check(`cd src && git log --oneline -5 -- ./*.go | head -n 3`)
		require.NoError(b, err)
	}
}

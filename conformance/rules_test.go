package conformance

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRulesAreWhole(t *testing.T) {
	id := regexp.MustCompile(`^[a-z]+\.[a-z]+(-[a-z]+)*$`)
	known := map[string]bool{}
	for _, e := range catalogue {
		require.Regexp(t, id, e.ID)
		require.False(t, known[e.ID], "%s is there twice", e.ID)
		known[e.ID] = true
		require.Contains(t, []Level{Must, MustNot, Should}, e.Level, e.ID)
		require.True(t, strings.HasSuffix(e.Title, "."), "%s: one whole sentence", e.ID)
		require.NotNil(t, e.check, e.ID)
	}
}

// TestRulesStandInTheProtocol holds that each rule quotes docs/protocol.md word for word, from the section it names, and
// binds as much as the sentence does.
func TestRulesStandInTheProtocol(t *testing.T) {
	text, err := os.ReadFile("../docs/protocol.md")
	require.NoError(t, err)
	sections := map[string]string{}
	for section := range strings.SplitSeq(string(text), "\n## ") {
		title, body, _ := strings.Cut(section, "\n")
		sections["docs/protocol.md, "+title] = strings.Join(strings.Fields(body), " ")
	}
	for _, rule := range Rules() {
		require.Contains(t, sections, rule.Section, rule.ID)
		require.Contains(t, sections[rule.Section], rule.Sentence, rule.ID)
		require.Regexp(t, `^[A-Z].*[.:]$`, rule.Sentence, "%s: whole sentences", rule.ID)
		require.Contains(t, rule.Sentence, string(rule.Level), rule.ID)
	}
}

func TestSelect(t *testing.T) {
	all, err := Select(nil)
	require.NoError(t, err)
	require.Equal(t, Rules(), all)

	some, err := Select([]string{"handshake.v*", "shutdown.clean"})
	require.NoError(t, err)
	require.Len(t, some, 2)
	require.Equal(t, "handshake.version", some[0].ID)

	for glob, problem := range map[string]string{"cancle.*": `no rule matches "cancle.*"`, "[": "no glob"} {
		_, err = Select([]string{glob})
		require.ErrorContains(t, err, problem)
	}
}

func TestFindings(t *testing.T) {
	tests := []struct {
		name    string
		finding finding
		level   Level
		verdict Verdict
		text    string
	}{
		{"held", seen("%d calls", 3), Must, Pass, "3 calls"},
		{"skipped", skipped("nothing to try"), Must, Skipped, "nothing to try"},
		{"broken", broken("%s is", "x"), Must, Fail, "x is"},
		{"must not", broken("it is"), MustNot, Fail, "it is"},
		{"should", broken("it is"), Should, Warn, "it is"},
		{"nothing to look at", (&tally{}).of("calls"), Must, Skipped, "there are no calls"},
		{"counted", (&tally{count: 2}).of("calls"), Must, Pass, "2 calls"},
		{"one of many", (&tally{count: 2, problems: []string{"a", "b", "c", "d", "e"}}).of("calls"), Must, Fail, "a; b; c; and 2 more"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.verdict, test.finding.verdict(test.level))
			require.Equal(t, test.text, test.finding.text())
		})
	}
}

package conventional_test

import (
	"strings"
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/conventional"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	type change = conventional.Change
	tests := []struct {
		name, message string
		want          []change
	}{
		// R32
		{"mark", "feat!: x", []change{{Type: "feat", Text: "x", Breaking: true}}},
		{"footer", "feat: x\n\nBREAKING CHANGE: y\nand z\n\nRefs: 1", []change{{Type: "feat", Text: "x", Breaking: true, Notes: []string{"y and z"}}}},
		{"footer with a hyphen", "feat: x\r\n\r\nBREAKING-CHANGE: y\r\nSigned-off-by: A", []change{{Type: "feat", Text: "x", Breaking: true, Notes: []string{"y"}}}},
		{"prose", "fix: x\n\nthis has no breaking changes: honest", []change{{Type: "fix", Text: "x"}}},
		{"prose in capitals", "fix: x\n\nNo BREAKING CHANGE: honest", []change{{Type: "fix", Text: "x"}}},
		{"scope and mark", "fix(api)!: x", []change{{Type: "fix", Scope: "api", Text: "x", Breaking: true}}},
		{"chore that breaks", "chore!: x", []change{{Type: "chore", Text: "x", Breaking: true}}},
		{"footer below any subject", "Rework it all\n\nBREAKING CHANGE: y", []change{{Text: "Rework it all", Breaking: true, Notes: []string{"y"}}}},
		{"footer in code", "docs: how to\n\n```\nBREAKING CHANGE: y\n```\n\n    BREAKING CHANGE: z\n", []change{{Type: "docs", Text: "how to"}}},
		// R35
		{"squash", "Harden loader (#106)\n\n* feat: a\n* fix: b\n\nNote: c\n", []change{{Type: "feat", Text: "a"}, {Type: "fix", Text: "b"}}},
		{"squash that breaks", "Harden loader\n\n- feat(x)!: a\n", []change{{Type: "feat", Scope: "x", Text: "a", Breaking: true}}},
		{"body below a conventional subject", "fix: a\n\n* feat: b", []change{{Type: "fix", Text: "a"}}},
		{"upper case", "Feat: x", []change{{Type: "feat", Text: "x"}}},
		{"no space", "feat:x", nil},
		{"no text", "feat: ", nil},
		{"a URL", "https://example.com/a: b", nil},
		{"a sentence", "Fix the thing: it was broken", nil},
		{"nothing", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, conventional.Parse(tt.message)) })
	}
}

// commits are "hash parents|message", the newest first. A letter stands for a hash of forty of it.
func commits(list ...string) []conventional.Commit {
	long := func(s string) string { return strings.Repeat(s, 40) }
	var out []conventional.Commit
	for _, s := range list {
		head, message, _ := strings.Cut(s, "|")
		c := conventional.Commit{Hash: long(head[:1])}
		for p := range strings.FieldsSeq(head[1:]) {
			c.Parents = append(c.Parents, long(p))
		}
		for _, h := range "abcdef" {
			message = strings.ReplaceAll(message, "<"+string(h)+">", long(string(h)))
		}
		c.Message = message
		out = append(out, c)
	}
	return out
}

// R35 and its kin: what was taken back again does not count, however that was written down.
func TestStanding(t *testing.T) {
	tests := []struct {
		name    string
		commits []conventional.Commit
		want    string // the first letters of the hashes that stand
	}{
		{"pair", commits(`c b|Revert "feat: x"`+"\n\nThis reverts commit <b>.", "b a|feat: x", "a|fix: y"), "a"},
		{"abbreviated", commits("c b|revert: feat: x\n\nThis reverts commit bbbbbbb.", "b a|feat: x"), ""},
		{"conventional", commits("d c|revert: two\n\nRefs: bbbbbbb, ccccccc", "c b|feat: x", "b a|feat: y", "a|fix: z"), "a"},
		{"revert of a revert", commits("d c|Revert \"Revert \"feat: x\"\"\n\nThis reverts commit <c>.", "c b|Revert \"feat: x\"\n\nThis reverts commit <b>.", "b a|feat: x"), "b"},
		{"of something released", commits("c b|Revert \"feat: x\"\n\nThis reverts commit <e>.", "b a|feat: y"), "cb"},
		{"squashed by a forge", commits(`c b|Revert "feat: x (#12)" (#13)`, "b a|feat: x (#12)"), ""},
		{"subject twice", commits(`d c|Revert "feat: x"`, "c b|feat: x", "b a|feat: x"), "b"},
		{"a merge", commits("e d|Revert \"Merge it\"\n\nThis reverts commit <d>, reversing\nchanges made to <b>.", "d b c|Merge it", "c a|feat: x", "b a|fix: y", "a|fix: z"), "ba"},
		{"also of something released", commits("c b|revert: two\n\nRefs: bbbbbbb, eeeeeee", "b a|feat: x", "a|fix: y"), "ca"},
		{"refs of another type", commits("c b|fix: x\n\nRefs: bbbbbbb", "b a|feat: y"), "cb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stand, cancelled := conventional.Standing(tt.commits)
			got := ""
			for _, c := range stand {
				got += c.Hash[:1]
			}
			require.Equal(t, tt.want, got)
			require.Len(t, cancelled, len(tt.commits)-len(stand))
		})
	}
}

func TestChangesOfAMerge(t *testing.T) {
	merge := commits("c b a|Merge pull request #12\n\nfeat: x\n\nBREAKING CHANGE: y", "c b a|feat: x")
	require.Equal(t, []conventional.Change{{Text: "Merge pull request #12", Breaking: true, Notes: []string{"y"}}}, merge[0].Changes())
	require.Len(t, merge[1].Changes(), 1)
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"feat!: x\n\nBREAKING CHANGE: y", "* feat: a", "Revert \"x\"\n\nThis reverts commit aaaaaaa.", "```\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, message string) {
		for _, c := range conventional.Parse(message) {
			require.True(t, c.Breaking || c.Type != "")
			require.GreaterOrEqual(t, len(message), len(c.Text))
		}
		conventional.Standing([]conventional.Commit{{Hash: "b", Message: message}, {Hash: "a", Message: message}})
	})
}

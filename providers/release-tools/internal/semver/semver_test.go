package semver_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/semver"
	"github.com/stretchr/testify/require"
)

// R16
func TestParseRefuses(t *testing.T) {
	tests := []struct{ name, in, says string }{
		{"empty", "", "it is empty"},
		{"two numbers", "1.3", "the patch number is missing"},
		{"one number", "1", "the minor number is missing"},
		{"four numbers", "1.2.3.4", "has 4 numbers"},
		{"leading zero", "01.3.1", `the major number "01" has a leading zero`},
		{"empty number", "1..1", "the minor number is empty"},
		{"empty pre-release", "1.3.1-", "the pre-release part has an empty identifier"},
		{"empty identifier", "1.3.1-a..b", "the pre-release part has an empty identifier"},
		{"zero in pre-release", "1.3.1-01", `the pre-release number "01" has a leading zero`},
		{"space in build", "1.3.1+build 5", `the build identifier "build 5" holds ' '`},
		{"empty build", "1.3.1+", "the build part has an empty identifier"},
		{"prefix", "v1.3.1", `the major part "v1" is not a number`},
		{"word", "auto", `the major part "auto" is not a number`},
		{"other digits", "1.2.٣", "the patch part"},
		{"newline", "1.2.3\n", "the patch part"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := semver.Parse(tt.in)
			require.ErrorContains(t, err, tt.says)
		})
	}
}

func TestParseKeepsTheSpelling(t *testing.T) {
	for _, s := range []string{"0.0.0", "1.2.3-0", "1.2.3--", "1.2.3-0a.01b", "1.2.3+01.b", "1.2.3-rc.1+b", "99999999999999999999999.0.1"} {
		v, err := semver.Parse(s)
		require.NoError(t, err)
		require.Equal(t, s, v.String())
	}
}

// R31, and 1.10.0 > 1.9.0 of R17
func TestPrecedence(t *testing.T) {
	want := []string{
		"0.9.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-rc.9", "1.0.0-rc.10", "1.0.0-rc.10.1",
		"1.0.0-rc10", "1.0.0-rc9", "1.0.0", "1.9.0", "1.10.0", "2.0.0", "18446744073709551616.0.0",
	}
	versions := make([]semver.Version, len(want))
	for i, s := range want {
		versions[i] = must(t, s)
	}
	rand.Shuffle(len(versions), func(i, j int) { versions[i], versions[j] = versions[j], versions[i] })
	slices.SortFunc(versions, semver.Compare)
	got := make([]string, len(versions))
	for i, v := range versions {
		got[i] = v.String()
	}
	require.Equal(t, want, got)
	require.Zero(t, semver.Compare(must(t, "1.0.0+b1"), must(t, "1.0.0+b2")))
}

// R31
func TestUndotted(t *testing.T) {
	require.Equal(t, "rc10", semver.Undotted(must(t, "1.0.0-rc10"), must(t, "1.0.0-rc9")))
	require.Empty(t, semver.Undotted(must(t, "1.0.0-rc.10"), must(t, "1.0.0-rc.9")))
	require.Empty(t, semver.Undotted(must(t, "1.0.0-rc8"), must(t, "1.0.0-rc9")))
	require.Empty(t, semver.Undotted(must(t, "1.0.1-rc10"), must(t, "1.0.0-rc9")))
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1.2.3", "1.2.3-rc.1+b", "01.2.3", "1.2.3-01", "v1.2.3", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := semver.Parse(s)
		if err != nil {
			return
		}
		require.Equal(t, s, v.String())
		require.Zero(t, semver.Compare(v, v))
	})
}

func must(t *testing.T, s string) semver.Version {
	t.Helper()
	v, err := semver.Parse(s)
	require.NoError(t, err)
	return v
}

func TestRaise(t *testing.T) {
	for _, tt := range []struct {
		from, want string
		level      semver.Level
	}{
		{"1.4.9", "2.0.0", semver.Major}, {"1.9.9", "1.10.0", semver.Minor}, {"1.4.99", "1.4.100", semver.Patch},
		{"1.4.0-rc.1+b", "1.4.0", semver.None}, {"0.0.99999999999999999999", "0.0.100000000000000000000", semver.Patch},
	} {
		require.Equal(t, tt.want, must(t, tt.from).Raise(tt.level).String())
	}
}

func TestPre(t *testing.T) {
	others := []semver.Version{must(t, "1.4.0-rc.9"), must(t, "1.4.0-rc.10"), must(t, "1.5.0-rc.70"), must(t, "1.4.0-beta.3"), must(t, "1.4.0-rc.x"), must(t, "1.4.0-rc99")}
	for label, want := range map[string]string{"rc": "1.4.0-rc.11", "beta": "1.4.0-beta.4", "alpha": "1.4.0-alpha.1"} {
		got, err := must(t, "1.4.0").Pre(label, others)
		require.NoError(t, err)
		require.Equal(t, want, got.String())
	}
	for _, label := range []string{"", "1", "r c", "rc.1", "01", "+"} {
		_, err := must(t, "1.4.0").Pre(label, others)
		require.Error(t, err, label)
	}
}

package changelog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/changelog"
	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/stretchr/testify/require"
)

// TestRealChangelogs reads the changelogs of well-known projects and releases a version in each (section 6 of the cases).
func TestRealChangelogs(t *testing.T) {
	dir := os.Getenv("RELEASE_TOOLS_CHANGELOGS")
	if dir == "" {
		t.Skip("RELEASE_TOOLS_CHANGELOGS names no folder of real changelogs")
	}
	tests := []struct {
		file        string
		versions    int
		first, last string
		refused     string // kind, "" if a release goes through
	}{
		{"olivierlacan__keep-a-changelog__CHANGELOG.md", 16, "2.0.0", "0.0.1", "nothing-to-release"},
		{"DERIVED-crlf__olivierlacan__keep-a-changelog__CHANGELOG.md", 16, "2.0.0", "0.0.1", "nothing-to-release"},
		{"open-telemetry__opentelemetry-go__CHANGELOG.md", 99, "1.45.0/0.67.0/0.21.0/0.0.18", "0.1.0", ""},
		{"clap-rs__clap__CHANGELOG.md", 411, "5.0.0", "0.4.16", "nothing-to-release"},
		{"BurntSushi__ripgrep__CHANGELOG.md", 41, "15.2.0", "0.2.0", "no-unreleased-section"},
		{"junegunn__fzf__CHANGELOG.md", 155, "0.74.3", "0.9.3", "no-unreleased-section"},
		{"motdotla__dotenv__CHANGELOG.md", 78, "17.4.2", "1.0.0", ""},
		{"psf__black__CHANGES.md", 70, "26.5.1", "18.3a0", ""},
		{"dsccommunity__ActiveDirectoryDsc__CHANGELOG.md", 12, "6.7.0", "5.0.0", ""},
		{"sharkdp__bat__CHANGELOG.md", 43, "0.26.1", "0.1.0", ""},
		{"PowerShell__PSScriptAnalyzer__CHANGELOG.MD", 38, "1.25.0", "1.0.0", "no-unreleased-section"},
		{"openfisca__openfisca-france__CHANGELOG.md", 1190, "176.0.7", "0.5.0", "no-unreleased-section"},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			src, err := os.ReadFile(filepath.Join(dir, tt.file))
			require.NoError(t, err)
			d := parse(t, string(src))
			known := labels(d)
			require.InDelta(t, tt.versions, len(known), float64(tt.versions)/200, "about 1190 is all the list says of the largest")
			require.Equal(t, tt.first, known[0])
			require.Equal(t, tt.last, known[len(known)-1])

			p, err := d.Promote(release(t, "999.0.0", previous(d)))
			if tt.refused != "" {
				var r *refusal.Error
				require.True(t, errors.As(err, &r), "%v", err)
				require.Equal(t, tt.refused, r.Kind)
				return
			}
			require.NoError(t, err)
			requireOnlyReleaseLines(t, string(src), string(p.After))
			if testing.Verbose() {
				t.Log(p.Warnings, "\n", changed(string(src), string(p.After)))
			}
		})
	}
}

func previous(d *changelog.Document) string {
	for _, s := range d.Released() {
		if v, ok := s.Strict(); ok {
			return v.String()
		}
	}
	return ""
}

// changed lists the lines that differ, for a person who reads the log.
func changed(before, after string) string {
	var out strings.Builder
	removed, added := lineDiff(before, after)
	for _, l := range removed {
		fmt.Fprintf(&out, "- %q\n", l)
	}
	for _, l := range added {
		fmt.Fprintf(&out, "+ %q\n", l)
	}
	return out.String()
}

package config

import (
	"strings"
	"testing"

	"github.com/hashicorp/go-version"
	"github.com/stretchr/testify/require"
)

// K13: what Terraform's operators mean, pre-releases above all.
func TestConstraintAllows(t *testing.T) {
	const releases = "1.2.0-rc.1 1.2.0-rc.2 1.2.0 1.2.9 1.3.0-rc.1 1.10.0 2.0.0-rc.1 2.0.0"
	tests := []struct{ constraint, want string }{
		{"~> 1.2", "1.2.0 1.2.9 1.10.0"},
		{"~>1.2", "1.2.0 1.2.9 1.10.0"},
		{"~> 1.2.0", "1.2.0 1.2.9"},
		{"~> 1.2.0-rc.1", "1.2.0-rc.1 1.2.0-rc.2 1.2.0 1.2.9"},
		{"~> 1", "1.2.0 1.2.9 1.10.0 2.0.0"},
		{"= 1.2.0-rc.1", "1.2.0-rc.1"},
		{"1.2.0", "1.2.0"},
		{">= 1.0.0-0", "1.2.0 1.2.9 1.10.0 2.0.0"},
		{"!= 1.2.0", "1.2.9 1.10.0 2.0.0"},
		{"!= 1.2.0-rc.1", "1.2.0 1.2.9 1.10.0 2.0.0"},
		{"> 1.2.0, < 2", "1.2.9 1.10.0"},
		{"<= 1.2.0", "1.2.0"},
		{">= 2.0.0-rc.1", "2.0.0-rc.1 2.0.0"},
	}
	for _, tt := range tests {
		t.Run(tt.constraint, func(t *testing.T) {
			c, err := ParseConstraint(tt.constraint)
			require.NoError(t, err)
			var got []string
			for s := range strings.FieldsSeq(releases) {
				if c.Allows(version.Must(version.NewVersion(s))) {
					got = append(got, s)
				}
			}
			require.Equal(t, tt.want, strings.Join(got, " "))
		})
	}
}

func TestParseConstraintRefuses(t *testing.T) {
	for _, s := range []string{"", "^1.2", "1.2.3.4", "01.2.3", "v1.2.3", "1.2,", "~> ", ">= 1.0 < 2.0", "latest", "1.2.3+build", "99999999999999999999"} {
		t.Run(s, func(t *testing.T) {
			_, err := ParseConstraint(s)
			require.Error(t, err)
		})
	}
}

func TestParseSource(t *testing.T) {
	for _, s := range []string{"github.com/o/r", "git.example.org:8443/group/repo//provider-x", "localhost/o/r"} {
		t.Run(s, func(t *testing.T) {
			got, err := ParseSource(s)
			require.NoError(t, err)
			require.Equal(t, s, got.String())
		})
	}
	for _, s := range []string{"", "o/r", "github.com/o", "github.com/o/r/x", "github.com/o/r//", "github.com/o/r//a/b", "https://github.com/o/r", "github.com/../r", "github.com/o/r//..", "git hub.com/o/r"} {
		t.Run("refuses "+s, func(t *testing.T) {
			_, err := ParseSource(s)
			require.Error(t, err)
		})
	}
}

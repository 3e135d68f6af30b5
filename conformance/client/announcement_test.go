package client

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseAnnouncement(t *testing.T) {
	tests := []struct {
		name, line string
		want       Announcement
		problem    string
	}{
		{"with a certificate", "1|1|unix|/tmp/a|grpc|AQID\n", Announcement{1, 1, "unix", "/tmp/a", "grpc", []byte{1, 2, 3}, nil}, ""},
		{"without a certificate", "1|2|tcp|127.0.0.1:1|netrpc|", Announcement{1, 2, "tcp", "127.0.0.1:1", "netrpc", nil, nil}, ""},
		{"of go-plugin with more parts", "1|1|unix|/tmp/a|grpc||true", Announcement{1, 1, "unix", "/tmp/a", "grpc", nil, nil}, ""},
		{"a greeting", "Hello\n", Announcement{}, "has 1 parts"},
		{"nothing", "", Announcement{}, "has 1 parts"},
		{"a word for a number", "one|1|unix|/tmp/a|grpc", Announcement{}, "no number"},
		{"a network of its own", "1|1|udp|x|grpc", Announcement{}, "neither unix nor tcp"},
		{"no address", "1|1|unix||grpc", Announcement{}, "address is empty"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := ParseAnnouncement(test.line)
			if test.problem != "" {
				require.ErrorContains(t, err, test.problem)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

// A kernel that is built on go-plugin refuses what it cannot decode, so it must not be decoded here either.
func TestCertificateThatGoPluginRefuses(t *testing.T) {
	for text, problem := range map[string]string{"AQ==": "without padding", "AQI=": "without padding", "!": "not in base64"} {
		a, err := ParseAnnouncement("1|1|unix|/tmp/a|grpc|" + text)
		require.NoError(t, err)
		require.Nil(t, a.Certificate)
		require.ErrorContains(t, a.Undecoded, problem, text)
	}
}

func FuzzParseAnnouncement(f *testing.F) {
	f.Add("1|1|unix|/tmp/a|grpc|AQID\n")
	f.Add("|||||")
	f.Fuzz(func(t *testing.T, line string) {
		a, err := ParseAnnouncement(line)
		if err == nil {
			require.Contains(t, []string{"unix", "tcp"}, a.Network)
			require.NotEmpty(t, a.Address)
		}
	})
}

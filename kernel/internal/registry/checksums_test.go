package registry_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/registry"
	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

var (
	one = strings.Repeat("1a", 32)
	two = strings.Repeat("2b", 32)
)

// K04: names are compared whole, in every form that the usual tools write.
func TestParseChecksums(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"text mode", one + "  x.tar.gz\n", one},
		{"binary mode", one + " *x.tar.gz\n", one},
		{"CRLF", one + "  x.tar.gz\r\n" + two + "  y\r\n", one},
		{"upper case", strings.ToUpper(one) + "  x.tar.gz\n", one},
		{"no line end", one + "  x.tar.gz", one},
		{"blank lines and a mark", "\ufeff" + one + "  x.tar.gz\n\n\n", one},
		{"the same twice", one + "  x.tar.gz\n" + one + " *x.tar.gz\n", one},
		{"a longer name first", two + "  compat-x.tar.gz.old\n" + two + "  x.tar.gz.sbom.json\n" + one + "  x.tar.gz\n", one},
		{"not listed", two + "  compat-x.tar.gz\n" + two + "  X.tar.gz\n" + two + "  ./x.tar.gz\n" + two + "  x.tar.gz \n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sums, err := registry.ParseChecksums([]byte(tt.text))
			require.NoError(t, err)
			require.Equal(t, tt.want, sums["x.tar.gz"])
		})
	}
}

func TestParseChecksumsRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", "lists no files"},
		{"two hashes of one name", one + "  x\n" + two + "  x\n", "line 2 gives x a second"},
		{"sha1", strings.Repeat("1", 40) + "  x\n", "line 1 is not"},
		{"sha512", strings.Repeat("1", 128) + "  x\n", "line 1 is not"},
		{"no hex", strings.Repeat("g", 64) + "  x\n", "line 1 is not"},
		{"no name", one + "  \n", "line 1 is not"},
		{"one space", one + " x\n", "line 1 is not"},
		{"a web page", "<!DOCTYPE html>\n<html>\n", "line 1 is not"},
		{"control codes", one + "  x\x1b[2J\n", "line 1 is not"},
		{"control codes of eight bits", one + "  x\u009b2J\n", "line 1 is not"},
		{"text from right to left", one + "  x\u202etxt\n", "line 1 is not"},
		{"BSD style", "SHA256 (x) = " + one + "\n", "line 1 is not"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := registry.ParseChecksums([]byte(tt.text))
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func FuzzParseChecksums(f *testing.F) {
	f.Add([]byte(one + "  x.tar.gz\n" + two + " *y\r\n"))
	f.Add([]byte("SHA256 (x) = " + one))
	f.Fuzz(func(t *testing.T, data []byte) {
		sums, err := registry.ParseChecksums(data)
		if err != nil {
			return
		}
		require.NotEmpty(t, sums)
		text := strings.ToLower(string(data))
		for name, hash := range sums {
			require.Len(t, hash, 64)
			require.Contains(t, text, hash)
			require.Contains(t, string(data), name)
		}
	})
}

// K04, K10: which file is taken, and by which line it is verified.
func TestWhichFiles(t *testing.T) {
	const archive, withV = "provider-x_1.2.3_linux_amd64.tar.gz", "provider-x_v1.2.3_linux_amd64.tar.gz"
	plain := func(names ...string) registrytest.Release {
		r := registrytest.Release{Tag: "v1.2.3"}
		for _, name := range names {
			r = r.With(name, []byte(name))
		}
		return r
	}
	tests := []struct {
		name    string
		release registrytest.Release
		archive string // empty: see code
		code    registry.Code
		want    string
	}{
		{"canonical", plain(archive).Summed("provider-x_1.2.3_checksums.txt"), archive, "", ""},
		{"with v", plain(withV).Summed("checksums.txt"), withV, "", ""},
		{"both", plain(withV, archive).Summed("checksums.txt"), archive, "", ""},
		{"a name that contains it", plain("compat-"+archive+".old", archive).Summed("checksums.txt"), archive, "", ""},
		{"only names that contain it", plain("compat-"+archive, archive+".old").Summed("checksums.txt"), "", registry.NoAsset, "compat-" + archive},
		{"other names", plain("x-1.2.3-linux-x64.tgz", "README.md").Summed("checksums.txt"), "", registry.NoAsset, "Its files are README.md, checksums.txt, x-1.2.3-linux-x64.tgz"},
		{"not listed", plain(archive).With("checksums.txt", registrytest.Sums(registrytest.Asset{Name: archive + ".old"})), "", registry.NoChecksum, "checksums.txt does not list " + archive},
		{"contradiction", plain(archive).With("checksums.txt", []byte(one+"  "+archive+"\n"+two+"  "+archive+"\n")), "", registry.ChecksumsInvalid, "line 2"},
		{"no checksums file", plain(archive), "", registry.NoChecksum, "Its files are " + archive},
		{"checksums of a project of another name", plain(archive).Summed("agentkit_1.2.3_checksums.txt"), archive, "", ""},
		{"two of other names", plain(archive).Summed("a_1.2.3_checksums.txt").With("b_1.2.3_checksums.txt", nil), "", registry.NoChecksum, "a_1.2.3_checksums.txt"},
		{"as Terraform has it", plain(archive).Summed("provider-x_1.2.3_SHA256SUMS"), archive, "", ""},
		{"that of another version", plain(archive).Summed("provider-x_1.2.2_checksums.txt"), "", registry.NoChecksum, "provider-x_1.2.2_checksums.txt"},
		{"the first of two", plain(archive).Summed("provider-x_1.2.3_checksums.txt").With("checksums.txt", []byte("junk")), archive, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := registrytest.New(t)
			n.GitHub("github.com").Publish(repo, tt.release)
			c := client(t, n, registry.Options{})
			r, err := c.Resolve(t.Context(), query(t, "github.com/"+repo, "1.2.3"))
			var a registry.Asset
			if err == nil {
				a, err = r.Archive(linux)
			}
			if tt.archive == "" {
				requireCode(t, err, tt.code)
				require.ErrorContains(t, err, tt.want)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.archive, a.Name)
			data, err := download(t, c, a)
			require.NoError(t, err)
			require.Equal(t, tt.release.Data(tt.archive), data)
			require.Equal(t, a.SHA256, r.Checksums()[linux])
		})
	}
}

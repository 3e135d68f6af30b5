package scaffold

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestFiles(t *testing.T) {
	for _, test := range []struct {
		name string
		sdk  SDK
	}{
		{"release", SDK{Version: "1.2.3"}},
		{"checkout", SDK{Checkout: "/home/me/my agent"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := Provider{Name: "wordcount", Source: "github.com/me/provider-wordcount", SDK: test.sdk}
			files, err := p.Files()
			require.NoError(t, err)
			got := &txtar.Archive{}
			for _, f := range files {
				require.NotContains(t, string(f.Text), "<no value>")
				got.Files = append(got.Files, txtar.File{Name: f.Name, Data: f.Text})
			}
			golden := filepath.Join("testdata", test.name+".txtar")
			if *update {
				require.NoError(t, os.WriteFile(golden, txtar.Format(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), string(txtar.Format(got)))
		})
	}
}

// TestEveryTemplateIsUsed holds that no template is forgotten.
func TestEveryTemplateIsUsed(t *testing.T) {
	templates, err := os.ReadDir("templates")
	require.NoError(t, err)
	files, err := Provider{}.Files()
	require.NoError(t, err)
	require.Len(t, files, len(templates)-1) // the other one is a project's
}

func TestWrite(t *testing.T) {
	p := Provider{Name: "wordcount", Source: "github.com/me/provider-wordcount", SDK: SDK{Version: "1.2.3"}}
	names := func(t *testing.T, dir string) (names []string) {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}

	t.Run("into a folder that is made", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "deep", "down")
		wrote, err := p.Write(dir)
		require.NoError(t, err)
		require.ElementsMatch(t, wrote, names(t, dir))
		require.Contains(t, wrote, "main.go")
	})

	t.Run("beside what is there", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, ".git"), 0o755))
		wrote, err := p.Write(dir)
		require.NoError(t, err)
		require.ElementsMatch(t, append(wrote, ".git"), names(t, dir))
	})

	t.Run("never over what is there", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "README.md"), []byte("mine"), 0o644))
		require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "main.go")))
		_, err := p.Write(dir)
		var exists *ExistsError
		require.ErrorAs(t, err, &exists)
		require.Equal(t, []string{"README.md", "main.go"}, exists.Names)
		require.ElementsMatch(t, []string{"README.md", "main.go"}, names(t, dir))
	})

	t.Run("nothing is left after a failure", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
		_, err := p.Write(filepath.Join(dir, "file", "below"))
		require.Error(t, err)
		require.Equal(t, []string{"file"}, names(t, dir))
	})
}

func TestCheckName(t *testing.T) {
	for _, name := range []string{"a", "wordcount", "release-tools", "s3", "x2-y3"} {
		require.NoError(t, CheckName(name), name)
	}
	for _, test := range []struct{ name, says string }{
		{"", "needs a name"},
		{"Word Count", "did you mean word-count?"},
		{"word_count", "did you mean word-count?"},
		{"provider-wordcount", "is the name of a binary: a provider is named without provider- (did you mean wordcount?)"},
		{"3d", "beginning with a letter"},
		{"-", "lower-case letters and digits"},
		{"../up", "did you mean up?"},
		{"zählen", `"zählen" cannot be the name`},
		{"averyveryveryveryveryveryverylongnamethatgoeson", "at most 40"},
	} {
		require.ErrorContains(t, CheckName(test.name), test.says, test.name)
	}
}

func TestReleased(t *testing.T) {
	for build, released := range map[string]bool{
		"1.2.3": true, "0.1.0-rc.1": false, "": false, "0.1.0-12-gabc1234": false, "0.1.0-dirty": false,
		"0.1.0-12-gabc1234-dirty": false, "e9a4da1": false, "devel": false,
	} {
		sdk, ok := Released(build)
		require.Equal(t, released, ok, build)
		if ok {
			require.Equal(t, build, sdk.Version)
		}
	}
}

func TestCheckout(t *testing.T) {
	repository := filepath.FromSlash("../../..")
	root, err := filepath.Abs(repository)
	require.NoError(t, err)
	want := filepath.ToSlash(root)
	for _, dir := range []string{repository, filepath.Join(repository, "sdk"), root} {
		sdk, err := FromCheckout(dir)
		require.NoError(t, err)
		require.Equal(t, want, sdk.Checkout)
	}
	_, err = FromCheckout(t.TempDir())
	require.ErrorContains(t, err, "is no checkout of github.com/agentco/agent")

	sdk, err := FindCheckout(".")
	require.NoError(t, err)
	require.Equal(t, want, sdk.Checkout)
	_, err = FindCheckout(t.TempDir())
	require.ErrorContains(t, err, "there is no checkout")
}

// TestTutorial holds that the code which the tutorial quotes is what is written, or what testdata/tutorial adds to it. Both
// are built and run by provider_new.txtar.
func TestTutorial(t *testing.T) {
	tutorial, err := os.ReadFile("../../../docs/writing-a-provider.md")
	require.NoError(t, err)
	files, err := Provider{Name: "wordcount", Source: "github.com/me/provider-wordcount", SDK: SDK{Version: "1.2.3"}}.Files()
	require.NoError(t, err)
	var written strings.Builder
	for _, f := range files {
		written.Write(f.Text)
	}
	added, err := filepath.Glob("testdata/tutorial/*")
	require.NoError(t, err)
	for _, name := range added {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		written.Write(text)
	}
	quotes := regexp.MustCompile("(?s)```(?:go|hcl)\n(.*?)```").FindAllSubmatch(tutorial, -1)
	require.Greater(t, len(quotes), 6)
	for _, quote := range quotes {
		if !strings.HasPrefix(string(quote[1]), "dev_overrides") {
			require.Contains(t, written.String(), string(quote[1]))
		}
	}
}

// TestVersions holds what a new provider requires to what the SDK is built with.
func TestVersions(t *testing.T) {
	files, err := Provider{Name: "x", Source: "github.com/me/x", SDK: SDK{Version: "1.2.3"}}.Files()
	require.NoError(t, err)
	sdk, err := os.ReadFile("../../../sdk/go.mod")
	require.NoError(t, err)
	for _, f := range files {
		if f.Name == "go.mod" {
			require.Contains(t, string(f.Text), "github.com/stretchr/testify ")
			for _, line := range []string{"\ngo 1.26.0\n", "\tgithub.com/stretchr/testify v1.12.1\n"} {
				require.Contains(t, string(f.Text), line)
				require.Contains(t, string(sdk), line, "the SDK has moved on: change the template")
			}
		}
	}
}

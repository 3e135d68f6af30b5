package config

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

var fence = regexp.MustCompile("(?ms)^```hcl ?(\\w*)\n(.*?)^```$")

// The examples of the documentation are read as what they are examples of.
func TestDocumentedExamples(t *testing.T) {
	const providers = `required_providers {
  filesystem = { source = "github.com/agentco/agent//provider-filesystem" }
  bash       = { source = "github.com/agentco/agent//provider-bash" }
}
`
	examples := fence.FindAllStringSubmatch(page(t), -1)
	require.Len(t, examples, 7)
	for _, example := range examples {
		what, src := example[1], example[2]
		switch what {
		case "tests":
			f, diags := parse("policy.test.hcl", []byte(src))
			_, err := loadPolicyCases(f, diags, testScope())
			require.NoError(t, err, src)
		case "config":
			f, diags := parse("config.hcl", []byte(src))
			_, err := loadGlobal(f, diags, "/config.hcl", testScope())
			require.NoError(t, err, src)
		case "":
			if !regexp.MustCompile(`(?m)^required_providers`).MatchString(src) {
				src = providers + src
			}
			p, diags := loadText(src)
			require.Empty(t, diags, src)
			require.Empty(t, p.Warnings, src)
		default:
			t.Errorf("an example of %q is an example of nothing", what)
		}
	}
}

// Every word that a file may hold is explained.
func TestEverythingIsDocumented(t *testing.T) {
	var blocks []string
	for name := range kinds {
		blocks = append(blocks, name)
	}
	text := page(t)
	for _, word := range slices.Concat(blocks, globalBlocks, settingNames, retryNames, profileArguments, policyArguments, matchFields,
		hookPoints, functionNames(), []string{"source", "version", "public_key", "model", "path.root", "path.cwd", "path.home"}) {
		require.Regexp(t, "`"+regexp.QuoteMeta(word)+"\\b", text)
	}
}

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/configuration.md")
	require.NoError(t, err)
	return string(text)
}

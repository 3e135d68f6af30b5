package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// docs/installing.md names every way to fail that there is.
func TestInstallingDocument(t *testing.T) {
	text, err := os.ReadFile("../../../docs/installing.md")
	require.NoError(t, err)
	for path, kind := range map[string]string{"../../internal/registry/error.go": `Code\s+= "(.*?)"`, "../../internal/install/error.go": `Kind = "(.*?)"`} {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		kinds := regexp.MustCompile(kind).FindAllStringSubmatch(string(source), -1)
		require.NotEmpty(t, kinds, path)
		for _, k := range kinds {
			require.Contains(t, string(text), "`"+k[1]+"`")
		}
	}
}

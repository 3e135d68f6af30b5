package registrytest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"
)

// Dist is the release in a dist folder of goreleaser: its metadata.json names the tag, its other JSON file what was made.
func (n *Net) Dist(dir string) Release {
	n.tb.Helper()
	var metadata struct {
		Version string `json:"version"`
	}
	n.readJSON(filepath.Join(dir, "metadata.json"), &metadata)
	r := Release{Tag: "v" + metadata.Version, Prerelease: strings.Contains(metadata.Version, "-")}
	var files []struct{ Name, Path, Type string }
	n.readJSON(filepath.Join(dir, "artifacts.json"), &files) //nolint:misspell // its name
	for _, a := range files {
		// What goreleaser itself uploads; binaries and metadata it keeps.
		if a.Type == "Archive" || a.Type == "Checksum" || a.Type == "SBOM" || a.Type == "Signature" || a.Type == "File" {
			// The paths are relative to the folder that goreleaser ran in.
			data, err := os.ReadFile(filepath.Join(dir, filepath.Base(a.Path)))
			require.NoError(n.tb, err)
			r = r.With(a.Name, data)
		}
	}
	require.NotEmpty(n.tb, r.Assets, "nothing to release in %s", dir)
	return r
}

func (n *Net) readJSON(path string, into any) {
	n.tb.Helper()
	data, err := os.ReadFile(path)
	require.NoError(n.tb, err)
	require.NoError(n.tb, json.Unmarshal(data, into))
}

package prepare

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhyAnInstallerFailed(t *testing.T) {
	for _, test := range []struct {
		name, script, fails string
	}{
		{"it did not", "true", ""},
		{"the last line says why", "echo reading it; echo no such version >&2; exit 1", "no such version"},
		{"it says nothing", "exit 3", "exit status 3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := tried(t.Context(), t.TempDir(), []string{"A=b"}, "sh", "-c", test.script)
			if test.fails == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, test.fails)
		})
	}
	require.ErrorContains(t, tried(t.Context(), t.TempDir(), nil, "no-such-installer"), "no-such-installer")
}

func TestPackageThatIsThereIsNotInstalled(t *testing.T) {
	p := &Place{Root: t.TempDir(), Say: func(text string) { require.Fail(t, text) }}
	manifest := filepath.Join(p.Root, "npm", "node_modules", "@a", "b", "package.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(manifest), 0o755))
	require.NoError(t, os.WriteFile(manifest, []byte(`{"version": "1.2.3"}`), 0o644))
	refused := map[string]string{}
	require.NoError(t, p.npm(t.Context(), []string{"@a/b@1.2.3"}, refused))
	require.Empty(t, refused)
	require.Equal(t, "1.2.3", installed(filepath.Dir(manifest)))
	require.Empty(t, installed(p.Root))
}

func TestRefused(t *testing.T) {
	p := &Place{Root: t.TempDir()}
	require.Empty(t, p.Refused(), "nothing was tried yet")
	require.NoError(t, os.WriteFile(p.refused(), []byte(`{"a@1":"it is gone"}`), 0o644))
	require.Equal(t, map[string]string{"a@1": "it is gone"}, p.Refused())
}

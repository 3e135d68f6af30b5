package scaffold

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProject(t *testing.T) {
	for _, test := range []struct {
		name    string
		project Project
	}{
		{"project-released", Project{Build: "1.2.3", Repository: true}},
		{"project-built", Project{Build: "1.2.3-4-gabc1234"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			path, err := test.project.Write(t.TempDir())
			require.NoError(t, err)
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			golden := filepath.Join("testdata", test.name+".hcl")
			if *update {
				require.NoError(t, os.WriteFile(golden, got, 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))
		})
	}
}

func TestProjectReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "agent.hcl")
	for name, make := range map[string]func() error{
		"a file":                     func() error { return os.WriteFile(path, []byte("# mine\n"), 0o644) },
		"a link that leads nowhere":  func() error { return os.Symlink("gone", path) },
		"a folder, of whatever sort": func() error { return os.Mkdir(path, 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, make())
			before, err := os.Lstat(path)
			require.NoError(t, err)
			_, err = Project{}.Write(dir)
			var exists *ExistsError
			require.ErrorAs(t, err, &exists)
			after, err := os.Lstat(path)
			require.NoError(t, err)
			require.True(t, os.SameFile(before, after))
			require.NoError(t, os.Remove(path))
		})
	}
}

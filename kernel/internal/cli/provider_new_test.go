package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/scaffold"
)

func TestPickSDK(t *testing.T) {
	repository, err := filepath.Abs("../../..")
	require.NoError(t, err)
	for _, test := range []struct {
		name, build, flag, dir string
		want                   scaffold.SDK
		fails                  string
	}{
		{"a release", "1.2.3", "", t.TempDir(), scaffold.SDK{Version: "1.2.3"}, ""},
		{"a release that is told otherwise", "1.2.3", repository, t.TempDir(), scaffold.SDK{Checkout: filepath.ToSlash(repository)}, ""},
		{"no release, in a checkout", "1.2.3-4-gabc1234", "", filepath.Join(repository, "kernel"), scaffold.SDK{Checkout: filepath.ToSlash(repository)}, ""},
		{"a snapshot, elsewhere", "0.0.1-next", "", t.TempDir(), scaffold.SDK{}, "say where a checkout of agent's repository is with --sdk DIR"},
		{"no release, elsewhere", "", "", t.TempDir(), scaffold.SDK{}, "say where a checkout of agent's repository is with --sdk DIR"},
		{"no checkout", "1.2.3", os.TempDir(), t.TempDir(), scaffold.SDK{}, "--sdk: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Chdir(test.dir)
			got, err := newApp(test.build).pickSDK(test.flag)
			if test.fails != "" {
				require.ErrorContains(t, err, test.fails)
				require.Equal(t, exitUsage, exitCode(err))
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

package catalogue

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/adrg/xdg"
	"github.com/agentco/agent/kernel/internal/host"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var sum = strings.Repeat("0a", 32)

func said(tool string) *host.Introduction {
	return &host.Introduction{
		Tools:         &toolv1.GetSchemaResponse{Tools: []*toolv1.ToolSchema{{Name: tool}}},
		Commands:      &slashcommandv1.GetCapabilitiesResponse{},
		ToolsProducer: &commonv1.ProducerRef{Name: "x", Version: "1.2.3"},
	}
}

func TestKeepAndFind(t *testing.T) {
	c := In(t.TempDir())
	require.Nil(t, c.Find(sum))
	require.NoError(t, c.Keep(sum, said("one")))
	found := c.Find(sum)
	require.True(t, said("one").Equal(found))
	require.NotNil(t, found.Commands, "an empty answer is one")
	require.Nil(t, found.CommandsProducer)
	require.NoError(t, c.Keep(sum, said("two")))
	require.True(t, said("two").Equal(c.Find(sum)))
	require.Nil(t, c.Find(strings.Repeat("0b", 32)))
	require.Nil(t, c.Find("../"+sum), "no path gets through")
	info, err := os.Stat(c.dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

func TestNothingIsKeptWithoutAPlace(t *testing.T) {
	var none *Catalogue
	require.NoError(t, none.Keep(sum, said("one")))
	require.Nil(t, none.Find(sum))
	_, err := none.Identify(os.Args[0])
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.Error(t, In(file).Keep(sum, said("one")))
	require.Nil(t, In(file).Find(sum))
}

func TestDefaultIsTheCacheOfTheUser(t *testing.T) {
	t.Cleanup(xdg.Reload)
	t.Setenv("XDG_CACHE_HOME", "/c")
	xdg.Reload()
	require.Equal(t, "/c/agent/schemas/v1", Default().dir)
	xdg.CacheHome = "relative"
	require.Nil(t, Default())
}

// Whatever is in its place, a broken entry is none, and is written anew.
func TestBrokenEntries(t *testing.T) {
	c := In(t.TempDir())
	require.NoError(t, c.Keep(sum, said("one")))
	whole, err := os.ReadFile(c.entry(sum))
	require.NoError(t, err)
	broken := map[string][]byte{
		"empty": nil, "half": whole[:len(whole)/2], "without its last byte": whole[:len(whole)-1], "longer": append(whole, ' '),
		"text": []byte("hello"), "sealed nonsense": []byte(sealOf([]byte("{")) + "\n{"),
		"sealed no message": []byte(sealOf([]byte(`{"tools":"/w=="}`)) + "\n" + `{"tools":"/w=="}`),
	}
	for name, content := range broken {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(c.entry(sum), content, 0o600))
			require.Nil(t, c.Find(sum))
			require.NoError(t, c.Keep(sum, said("one")))
			require.True(t, said("one").Equal(c.Find(sum)))
		})
	}
	require.NoError(t, os.Remove(c.entry(sum)))
	require.NoError(t, os.Mkdir(c.entry(sum), 0o700))
	require.Nil(t, c.Find(sum))
	require.Error(t, c.Keep(sum, said("one")))
	left, err := filepath.Glob(filepath.Join(c.dir, ".new-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			c := In(dir)
			for range 50 {
				if err := c.Keep(sum, said(fmt.Sprint("tool", i))); err != nil {
					t.Error(err)
				}
				if found := c.Find(sum); found == nil || !strings.HasPrefix(found.Tools.GetTools()[0].GetName(), "tool") {
					t.Error("an entry was seen half", found)
				}
			}
		})
	}
	all.Wait()
}

func TestPruneKeepsWhatIsUsed(t *testing.T) {
	c := In(t.TempDir())
	old := time.Now().Add(-48 * time.Hour)
	for i := range mostFiles {
		name := fmt.Sprintf("%064x", i)
		require.NoError(t, c.Keep(name, said("one")))
		require.NoError(t, os.Chtimes(c.entry(name), old, old))
	}
	used := fmt.Sprintf("%064x", 7)
	require.NotNil(t, c.Find(used))
	require.NoError(t, c.Keep(sum, said("one")))
	entries, err := os.ReadDir(c.dir)
	require.NoError(t, err)
	require.Len(t, entries, fewFiles)
	require.NotNil(t, c.Find(used))
	require.NotNil(t, c.Find(sum))
}

func FuzzDecode(f *testing.F) {
	content, err := encode(said("one"))
	require.NoError(f, err)
	f.Add(content)
	f.Add([]byte(`{"tools":null,"commands":""}`))
	f.Fuzz(func(_ *testing.T, content []byte) {
		if found, err := decode(content); err == nil {
			_, _ = encode(found)
		}
	})
}

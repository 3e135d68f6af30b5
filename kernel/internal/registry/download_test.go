package registry_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/registry"
	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

const archiveName = "provider-x_1.0.0_linux_amd64.tar.gz"

// large is a release whose archive is a million bytes that do not compress.
func large() (registrytest.Release, []byte) {
	var data bytes.Buffer
	for i := 0; data.Len() < 1<<20; i++ {
		sum := sha256.Sum256(fmt.Append(nil, i))
		data.Write(sum[:])
	}
	r := registrytest.Release{Tag: "v1.0.0"}.With(archiveName, data.Bytes())
	return r.Summed("checksums.txt"), data.Bytes()
}

// fetching is a release that is found, and all that is needed to fetch its archive.
type fetching struct {
	n    *registrytest.Net
	f    *registrytest.Forge
	c    *registry.Client
	a    registry.Asset
	data []byte
}

func newFetching(t *testing.T, o registry.Options) *fetching {
	t.Helper()
	n := registrytest.New(t)
	f := n.GitHub("github.com")
	r, data := large()
	f.Publish(repo, r)
	c := client(t, n, o)
	found, err := c.Resolve(t.Context(), query(t, "github.com/"+repo, ""))
	require.NoError(t, err)
	a, err := found.Archive(linux)
	require.NoError(t, err)
	n.Forget()
	return &fetching{n, f, c, a, data}
}

// into downloads into a file that holds something already.
func (f *fetching) into(t *testing.T, before []byte, progress registry.Progress) ([]byte, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "part")
	require.NoError(t, os.WriteFile(path, before, 0o600))
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer file.Close()
	err = f.c.Download(t.Context(), f.a, file, progress)
	data, readErr := os.ReadFile(path)
	require.NoError(t, readErr)
	return data, err
}

// ranges are the parts that the storage was asked for.
func (f *fetching) ranges() []string {
	var all []string
	for _, request := range f.n.To(f.f.Storage) {
		all = append(all, request.Header.Get("Range"))
	}
	return all
}

func TestDownloadTakesUpWhereItWasCut(t *testing.T) {
	f := newFetching(t, registry.Options{})
	f.n.Break(f.f.Storage, archiveName, 5, registrytest.Cut(150_000)) // more often than a request is repeated
	data, err := f.into(t, nil, nil)
	require.NoError(t, err)
	require.Equal(t, f.data, data)
	require.Equal(t, []string{"", "bytes=150000-", "bytes=300000-", "bytes=450000-", "bytes=600000-", "bytes=750000-"}, f.ranges())
	for _, request := range f.n.To(f.f.Storage)[1:] {
		require.Equal(t, fmt.Sprintf(`"%x"`, sha256.Sum256(f.data)), request.Header.Get("If-Range"))
	}
}

// A slow connection is no cut one, and a silent one is.
func TestDownloadStalls(t *testing.T) {
	t.Parallel()
	f := newFetching(t, registry.Options{})
	patiently(t, 600*time.Millisecond, func(patience time.Duration) bool {
		f.n.Forget()
		f.c = client(t, f.n, registry.Options{StallTimeout: patience})
		f.n.Repair()
		f.n.Break(f.f.Storage, archiveName, 1, registrytest.Stall(700_000))
		data, err := f.into(t, nil, nil)
		return err == nil && bytes.Equal(f.data, data) && slices.Equal([]string{"", "bytes=700000-"}, f.ranges())
	})
}

func TestDownloadTakesUpAnEarlierPart(t *testing.T) {
	tests := []struct {
		name   string
		before func(data []byte) []byte
		ranges []string
	}{
		{"the beginning", func(d []byte) []byte { return d[:1000] }, []string{"bytes=1000-"}},
		{"all of it", func(d []byte) []byte { return d }, nil},
		{"the beginning of something else", func([]byte) []byte { return []byte("something else") }, []string{"bytes=14-", ""}},
		{"all of it and more", func(d []byte) []byte { return append(bytes.Clone(d), "more"...) }, []string{"bytes=1048580-", ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFetching(t, registry.Options{})
			data, err := f.into(t, tt.before(f.data), nil)
			require.NoError(t, err)
			require.Equal(t, f.data, data)
			require.Equal(t, tt.ranges, f.ranges())
		})
	}
}

func TestDownloadFromAServerWithoutRanges(t *testing.T) {
	f := newFetching(t, registry.Options{})
	f.n.Break(f.f.Storage, archiveName, 2, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		registrytest.WithoutRange(w, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			registrytest.Cut(500_000)(w, r, next)
		}))
	})
	f.n.Break(f.f.Storage, archiveName, -1, registrytest.WithoutRange)
	data, err := f.into(t, nil, nil)
	require.NoError(t, err)
	require.Equal(t, f.data, data)
}

// A part that is not the one asked for would be a file that is none.
func TestDownloadOfAnotherPart(t *testing.T) {
	f := newFetching(t, registry.Options{})
	f.n.Break(f.f.Storage, archiveName, -1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r.Header.Set("Range", "bytes=5-")
		r.Header.Del("If-Range")
		next.ServeHTTP(w, r)
	})
	_, err := f.into(t, f.data[:1000], nil)
	requireCode(t, err, registry.InvalidAnswer)
	require.ErrorContains(t, err, "another part than was asked for")
}

// The file is replaced while it is fetched: what is put together is neither of the two.
func TestDownloadOfAFileThatChanges(t *testing.T) {
	f := newFetching(t, registry.Options{})
	f.n.Break(f.f.Storage, archiveName, 1, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		registrytest.Cut(1000)(w, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"another"`)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(bytes.Repeat([]byte("z"), 1<<20)))
		}))
	})
	data, err := f.into(t, nil, nil)
	require.NoError(t, err)
	require.Equal(t, f.data, data)
}

// K01: a mismatch is an error of its own, with both sums, and nothing is left that could be taken for the archive.
func TestDownloadMismatch(t *testing.T) {
	f := newFetching(t, registry.Options{})
	evil := bytes.Clone(f.data)
	evil[500_000] ^= 1
	f.n.Break(f.f.Storage, archiveName, -1, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(evil))
	})
	for _, before := range [][]byte{nil, f.data[:1000]} {
		data, err := f.into(t, before, nil)
		requireCode(t, err, registry.ChecksumMismatch)
		require.ErrorContains(t, err, fmt.Sprintf("expected sha256 %x, got %x", sha256.Sum256(f.data), sha256.Sum256(evil)))
		require.Empty(t, data)
	}
}

// K08: the body of an error is no archive, nor part of one.
func TestDownloadErrorBody(t *testing.T) {
	for code, want := range map[int]registry.Code{400: registry.InvalidAnswer, 403: registry.AccessDenied, 404: registry.NotFound, 503: registry.ServerFailed, 304: registry.InvalidAnswer, 429: registry.RateLimited} {
		f := newFetching(t, registry.Options{})
		f.n.Break(f.f.Storage, archiveName, -1, registrytest.Status(code))
		for _, before := range [][]byte{nil, f.data[:1000]} {
			data, err := f.into(t, before, nil)
			requireCode(t, err, want)
			require.Equal(t, len(before), len(data))
		}
	}
}

func TestDownloadTooLarge(t *testing.T) {
	f := newFetching(t, registry.Options{})
	f.n.Break(f.f.Storage, archiveName, -1, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Length", "20000000000")
		_, _ = w.Write([]byte("the beginning"))
	})
	data, err := f.into(t, nil, nil)
	requireCode(t, err, registry.TooLarge)
	require.Empty(t, data)
}

func TestDownloadProgress(t *testing.T) {
	f := newFetching(t, registry.Options{})
	var last, total int64
	_, err := f.into(t, f.data[:1000], func(done, of int64) {
		require.GreaterOrEqual(t, done, max(last, 1000))
		last, total = done, of
	})
	require.NoError(t, err)
	require.EqualValues(t, 1<<20, last)
	require.EqualValues(t, 1<<20, total)
}

func TestDownloadWithoutChecksum(t *testing.T) {
	f := newFetching(t, registry.Options{})
	f.a.SHA256 = ""
	_, err := f.into(t, nil, nil)
	requireCode(t, err, registry.NoChecksum)
	require.Empty(t, f.n.Requests())
}

// full is a disk without room.
type full struct{ io.ReadWriteSeeker }

func (full) Read([]byte) (int, error)       { return 0, io.EOF }
func (full) Seek(int64, int) (int64, error) { return 0, nil }
func (full) Truncate(int64) error           { return nil }
func (full) Write([]byte) (int, error)      { return 0, fmt.Errorf("no space left on device") }

func TestDownloadOntoAFullDisk(t *testing.T) {
	f := newFetching(t, registry.Options{})
	err := f.c.Download(t.Context(), f.a, full{}, nil)
	requireCode(t, err, registry.LocalFile)
	require.ErrorContains(t, err, "no space left on device. Check the free space")
	require.Len(t, f.ranges(), 1)
}

func TestDownloadCancelled(t *testing.T) {
	f := newFetching(t, registry.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	f.n.Break(f.f.Storage, archiveName, -1, registrytest.Stall(300_000))
	file, err := os.Create(filepath.Join(t.TempDir(), "part"))
	require.NoError(t, err)
	defer file.Close()
	err = f.c.Download(ctx, f.a, file, func(done, _ int64) {
		if done > 200_000 {
			cancel()
		}
	})
	requireCode(t, err, registry.Cancelled)
	require.ErrorIs(t, err, context.Canceled)
}

func TestDownloadsInParallel(t *testing.T) {
	f := newFetching(t, registry.Options{})
	f.n.Break(f.f.Storage, archiveName, 8, registrytest.Cut(400_000))
	var wg sync.WaitGroup
	results := make([][]byte, 8)
	for i := range results {
		wg.Go(func() { results[i], _ = f.into(t, nil, nil) })
	}
	wg.Wait()
	for _, data := range results {
		require.True(t, bytes.Equal(f.data, data))
	}
}

package registrytest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"time"
)

// Release is one to publish.
type Release struct {
	Tag string
	// Draft is one that is not published; on GitLab, one announced for a later day.
	Draft, Prerelease bool
	Assets            []Asset
}

// Asset is a file of a release.
type Asset struct {
	Name string
	Data []byte
	// Unfinished is one whose upload has begun and not ended; GitHub shows such.
	Unfinished bool
}

// Built is a release of one provider as goreleaser makes it: an archive with the binary, named like the provider, and
// a README for each platform (OS_ARCH), and PROVIDER_VERSION_checksums.txt.
func Built(provider, version string, binary []byte, platforms ...string) Release {
	r := Release{Tag: "v" + version, Prerelease: strings.Contains(version, "-")}
	for _, p := range platforms {
		name := fmt.Sprintf("%s_%s_%s", provider, version, p)
		if strings.HasPrefix(p, "windows_") {
			r.Assets = append(r.Assets, Asset{Name: name + ".zip", Data: zipped(provider+".exe", binary)})
			continue
		}
		r.Assets = append(r.Assets, Asset{Name: name + ".tar.gz", Data: tarred(provider, binary)})
	}
	return r.Summed(fmt.Sprintf("%s_%s_checksums.txt", provider, version))
}

// Summed is the release with a checksums file of that name that lists all its other files.
func (r Release) Summed(name string) Release {
	r = r.Without(name)
	return r.With(name, Sums(r.Assets...))
}

// Sums is the text of a checksums file.
func Sums(assets ...Asset) []byte {
	var sums bytes.Buffer
	for _, a := range assets {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(a.Data), a.Name)
	}
	return sums.Bytes()
}

// With is the release with one more file, or another one of that name.
func (r Release) With(name string, data []byte) Release {
	r = r.Without(name)
	r.Assets = append(r.Assets, Asset{Name: name, Data: data})
	return r
}

// Without is the release without a file.
func (r Release) Without(name string) Release {
	kept := make([]Asset, 0, len(r.Assets)+1)
	for _, a := range r.Assets {
		if a.Name != name {
			kept = append(kept, a)
		}
	}
	r.Assets = kept
	return r
}

// Data is the content of a file; nil when there is none of that name.
func (r Release) Data(name string) []byte {
	for _, a := range r.Assets {
		if a.Name == name {
			return a.Data
		}
	}
	return nil
}

var readme = []byte("A provider.\n")

// The day in the archives is always the same, so that the same binary makes the same archive.
var day = time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)

func tarred(name string, binary []byte) []byte {
	var out bytes.Buffer
	gz, err := gzip.NewWriterLevel(&out, gzip.BestSpeed) // a real provider takes a second otherwise
	must(err)
	tw := tar.NewWriter(gz)
	for _, f := range []struct {
		name string
		mode int64
		data []byte
	}{{"README.md", 0o644, readme}, {name, 0o755, binary}} {
		must(tw.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: day}))
		_, err := tw.Write(f.data)
		must(err)
	}
	must(tw.Close())
	must(gz.Close())
	return out.Bytes()
}

func zipped(name string, binary []byte) []byte {
	var out bytes.Buffer
	zw := zip.NewWriter(&out)
	for _, f := range []struct {
		name string
		data []byte
	}{{"README.md", readme}, {name, binary}} {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: day}
		h.SetMode(0o755)
		w, err := zw.CreateHeader(h)
		must(err)
		_, err = io.Copy(w, bytes.NewReader(f.data))
		must(err)
	}
	must(zw.Close())
	return out.Bytes()
}

// must is for what cannot fail: writing an archive into memory.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

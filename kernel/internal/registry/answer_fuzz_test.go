package registry

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/config"
)

// What a forge answers is read without trust: it gives releases or an error, and never a page on another host
// that would be shown the token.
func fuzzAnswer(f *testing.F, d dialect, seed string) {
	f.Add([]byte(seed), `<https://h.example/next?page=2>; rel="next", <https://h.example/9>; rel="last"`, "2")
	f.Add([]byte(`[{"tag_name":null,"assets":[{}]}]`), `<//evil.example>; rel=next`, "-1")
	f.Add([]byte(`[null, {}]`), `<>;rel="next"`, "99999999999999999999")
	source := config.Source{Host: "h.example", Owner: "o", Repo: "provider-x"}
	f.Fuzz(func(t *testing.T, data []byte, link, next string) {
		page := &url.URL{Scheme: "https", Host: "h.example", Path: "/releases"}
		if n := d.next(page, http.Header{"Link": {link}, "X-Next-Page": {next}}); n != "" {
			_, err := url.Parse(n)
			require.NoError(t, err)
		}
		releases, err := d.parsePage(data)
		if err != nil {
			return
		}
		constraint, err := config.ParseConstraint("~> 1.0")
		require.NoError(t, err)
		chosen, _ := choose(constraint, listing{from: "h.example", releases: (&origin{}).own(releases)})
		for i, c := range chosen {
			require.Equal(t, "v"+c.version.String(), c.tag)
			require.False(t, c.draft)
			require.True(t, i == 0 || !c.version.GreaterThan(chosen[i-1].version))
			for _, a := range c.assets {
				require.GreaterOrEqual(t, a.Size, int64(0))
			}
			if sums, ok := findChecksums(source.Name(), source.Repo, c.version.String(), c.assets); ok {
				require.True(t, plainName(sums.Name), sums.Name)
			}
		}
		require.NotEmpty(t, noMatch(source, "none", listing{releases: releases}).Error())
	})
}

func FuzzGitHub(f *testing.F) {
	fuzzAnswer(f, gitHub, `[{"tag_name":"v1.2.3","draft":false,"prerelease":false,"assets":[{"name":"checksums.txt","size":5,"state":"uploaded","url":"https://h.example/1","browser_download_url":"https://h.example/2"}]}]`)
}

func FuzzGitLab(f *testing.F) {
	fuzzAnswer(f, gitLab, `[{"tag_name":"v1.2.3","upcoming_release":false,"assets":{"count":1,"links":[{"name":"a_1.2.3_checksums.txt","url":"https://h.example/2","direct_asset_url":""}]}}]`)
}

func FuzzGitea(f *testing.F) {
	fuzzAnswer(f, gitea, `[{"tag_name":"v1.2.3-rc.1","draft":false,"prerelease":true,"assets":[{"name":"a","size":-5,"browser_download_url":"https://h.example/2"}]}]`)
}

func TestNextLink(t *testing.T) {
	page := &url.URL{Scheme: "https", Host: "api.example", Path: "/releases", RawQuery: "page=1"}
	tests := []struct{ name, header, want string }{
		{"GitHub", `<https://api.example/releases?page=2>; rel="next", <https://api.example/releases?page=5>; rel="last"`, "https://api.example/releases?page=2"},
		{"last page", `<https://api.example/releases?page=1>; rel="first", <https://api.example/releases?page=4>; rel="prev"`, ""},
		{"no quotes, relative", `</releases?page=2>; rel=next`, "https://api.example/releases?page=2"},
		{"more parameters", `<https://api.example/releases?page=2>; title="a"; REL="next"`, "https://api.example/releases?page=2"},
		{"nothing", ``, ""},
		{"broken", `https://api.example/2; rel="next"`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, nextLink(page, http.Header{"Link": {tt.header}}))
		})
	}
}

func TestParseTag(t *testing.T) {
	for tag, want := range map[string]bool{
		"v1.2.3": true, "v0.0.0": true, "v1.2.3-rc.1": true, "v1.2.3-0a": true,
		"1.2.3": false, "v1.2": false, "v1.2.3.4": false, "v01.2.3": false, "v1.2.3-01": false, "v1.2.3+build": false, "list": false, "v": false,
		"kernel/v1.2.3": false, "V1.2.3": false, "v1.2.3\n": false, "v1.2.3-": false, "v99999999999.0.0": false,
	} {
		_, ok := parseTag(tag)
		require.Equal(t, want, ok, tag)
	}
}

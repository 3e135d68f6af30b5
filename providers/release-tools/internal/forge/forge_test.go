package forge_test

import (
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/forge"
	"github.com/stretchr/testify/require"
)

// R12
func TestRemote(t *testing.T) {
	tests := []struct{ name, remote, compare, tag string }{
		{"scp", "git@gitlab.com:group/sub/app.git", "https://gitlab.com/group/sub/app/-/compare/{from}...{to}", "https://gitlab.com/group/sub/app/-/tags/{tag}"},
		{"https", "https://github.com/example/app", "https://github.com/example/app/compare/{from}...{to}", "https://github.com/example/app/releases/tag/{tag}"},
		{"ssh with port", "ssh://git@github.com:22/example/app.git/", "https://github.com/example/app/compare/{from}...{to}", "https://github.com/example/app/releases/tag/{tag}"},
		{"credentials", "https://user:secret@github.com/example/app.git", "https://github.com/example/app/compare/{from}...{to}", "https://github.com/example/app/releases/tag/{tag}"},
		{"unknown host", "git@git.example.org:example/app.git", "", ""},
		{"too deep", "https://github.com/example/app/extra", "", ""},
		{"local path", "/srv/git/app.git", "", ""},
		{"relative path", "../app:1", "", ""},
		{"file", "file:///srv/git/app.git", "", ""},
		{"empty", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pages, ok := forge.Remote(tt.remote)
			require.Equal(t, tt.compare != "", ok)
			require.Equal(t, forge.Pages{Compare: tt.compare, Tag: tt.tag}, pages)
		})
	}
}

func TestPage(t *testing.T) {
	tests := []struct{ name, page, tag string }{
		{"commits", "https://github.com/example/app/commits/main", "https://github.com/example/app/releases/tag/{tag}"},
		{"compare", "https://gitlab.com/a/b/c/-/compare/v1...v2", "https://gitlab.com/a/b/c/-/tags/{tag}"},
		{"unknown", "https://example.org/a/b/compare/v1...v2", ""},
		{"no URL", "%zz", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pages, ok := forge.Page(tt.page)
			require.Equal(t, tt.tag != "", ok)
			require.Equal(t, tt.tag, pages.Tag)
		})
	}
}

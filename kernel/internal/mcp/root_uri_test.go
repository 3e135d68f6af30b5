package mcp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFolderOf(t *testing.T) {
	for _, test := range []struct{ name, uri, unix, windows string }{ // an empty folder is an error
		{"plain", "file:///home/me/app", "/home/me/app", ""},
		{"with a slash behind", "file:///home/me/app//", "/home/me/app", ""},
		{"everything", "file:///", "/", ""},
		{"of this machine", "file://localhost/srv", "/srv", ""},
		{"of another", "file://server/share/app", "", `\\server\share\app`},
		{"percent-encoded", "file:///home/me/my%20app%23%3f%25/%C3%A4", "/home/me/my app#?%/ä", ""},
		{"not encoded", "file:///home/me/my app/ä", "/home/me/my app/ä", ""},
		{"a scheme in capitals", "FILE:///srv", "/srv", ""},
		{"a drive", "file:///C:/Users/me", "/C:/Users/me", `C:\Users\me`},
		{"a drive as some editors write it", "file:///c%3A/Users/me/", "/c:/Users/me", `c:\Users\me`},
		{"a whole drive", "file:///d:/", "/d:", `d:\`},
		{"half a percent", "file:///100%", "", ""},
		{"a fragment", "file:///srv/c#", "/srv/c", ""}, // an empty one
		{"a fragment that was meant as a name", "file:///srv/c#/app", "", ""},
		{"a query", "file:///srv?x", "", ""},
		{"an empty query", "file:///srv?", "", ""},
		{"a NUL", "file:///srv%00", "", ""},
		{"relative", "file:app", "", ""},
		{"a name for a folder", "file://app", "", ""},
		{"a path", "/home/me/app", "", ""},
		{"a path of Windows", `C:\Users\me`, "", ""},
		{"the web", "https://example.com/app", "", ""},
		{"a repository", "git:///srv", "", ""},
		{"nothing", "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			for windows, want := range map[bool]string{false: test.unix, true: test.windows} {
				folder, err := folderOn(test.uri, windows)
				require.Equal(t, want, folder)
				require.Equal(t, want == "", err != nil, err)
			}
		})
	}
}

// A root is a whole path, or none.
func FuzzFolderOf(f *testing.F) {
	for _, uri := range []string{"file:///a%20b/", "file:///c%3A/x", "file://h/s", "file:////", "file:///..", "file:%2f", "file:///%00", "FILE://LOCALHOST/a?b#c"} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		if folder, err := folderOn(uri, false); err == nil {
			require.True(t, strings.HasPrefix(folder, "/"), "%q", folder)
		}
		if folder, err := folderOn(uri, true); err == nil {
			require.Regexp(t, `^(\\\\.|[A-Za-z]:\\)`, folder)
			require.NotContains(t, folder, "/")
		}
	})
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

// body answers with a body in pieces, and a next page that never ends when link is set.
func body(link bool, pieces ...string) registrytest.Fault {
	page := 1
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		if page++; link {
			w.Header().Set("Link", fmt.Sprintf(`<https://api.github.com%s?page=%d>; rel="next"`, r.URL.Path, page))
		}
		for _, piece := range pieces {
			_, _ = w.Write([]byte(piece))
		}
	}
}

// release is a list of one release with one file.
func release(tag, name, address string) registrytest.Fault {
	text, _ := json.Marshal([]any{map[string]any{"tag_name": tag, "assets": []any{
		map[string]any{"name": name, "state": "uploaded", "browser_download_url": address},
	}}})
	return registrytest.Headers(http.StatusOK, string(text))
}

// Whatever a forge answers, agent init ends soon and with one clear error, changes nothing, shows its token to nobody else,
// and no code to the terminal.
func TestHostileAnswers(t *testing.T) {
	const secret = "ghp_0123456789"
	const sums = "provider-filesystem_2.0.0_checksums.txt"
	mib := strings.Repeat(" ", 1<<20)
	many := make([]string, 40)
	for i := range many {
		many[i] = mib
	}
	bomb := func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		for i := range 1000 {
			w.Header().Set("X-"+strconv.Itoa(i), strings.Repeat("a", 1000))
		}
	}
	next := func(address string) registrytest.Fault {
		return registrytest.Headers(http.StatusOK, "[]", "Link", "<"+address+`>; rel="next"`)
	}
	tests := []struct {
		name string
		how  registrytest.Fault
		kind string
	}{
		{"huge", body(false, append(append([]string{"["}, many...), many...)...), "too-large"},
		{"endless pages", body(true, "[]"), "no-matching-version"},
		{"endless large pages", body(true, append(append([]string{"["}, many...), "]")...), "too-large"},
		{"huge headers", bomb, "unreachable"},
		{"deep", body(false, string(bytes.Repeat([]byte("["), 1<<20))), "invalid-answer"},
		{"deep objects", body(false, "[", strings.Repeat(`{"a":`, 1<<18)), "invalid-answer"},
		{"nothing", body(false, "null"), "no-matching-version"},
		{"nothings", body(false, "[null,null]"), "no-matching-version"},
		{"an object", body(false, `{"message":"x"}`), "invalid-answer"},
		{"a web page", registrytest.Headers(http.StatusOK, "<html>\x1b[31m", "Content-Type", "text/html"), "invalid-answer"},
		{"other types", body(false, `[{"tag_name":["v1\u001b[31m"],"assets":{}}]`), "invalid-answer"},
		{"no content", registrytest.Headers(http.StatusNoContent, ""), "invalid-answer"},
		{"not modified", registrytest.Headers(http.StatusNotModified, ""), "invalid-answer"},
		{"an error in colour", registrytest.Headers(http.StatusTeapot, "\x1b[31m"), "invalid-answer"},
		{"a redirect to nowhere", registrytest.Headers(http.StatusFound, ""), "invalid-answer"},
		{"a redirect to no address", registrytest.Headers(http.StatusFound, "", "Location", "https://[::"), "unreachable"},
		{"a redirect to a file", registrytest.Redirect("file:///etc/passwd"), "invalid-answer"},
		{"a redirect to data", registrytest.Redirect("data:text/plain,[]"), "invalid-answer"},
		{"a redirect to itself", registrytest.Redirect("/repos/agentco/provider-filesystem/releases"), "invalid-answer"},
		{"a redirect to this machine", registrytest.Redirect("https://127.0.0.1:1/x"), "invalid-answer"},
		{"a redirect to a host of that beginning", registrytest.Redirect("https://api.github.com.evil.example/x"), "server-failed"},
		{"a file of this machine's disk", release("v2.0.0", sums, "file:///etc/passwd"), "invalid-answer"},
		{"a file of this machine's servers", release("v2.0.0", sums, "https://localhost:1/x"), "invalid-answer"},
		{"a file of elsewhere", release("v2.0.0", sums, "https://evil.example/x"), "server-failed"},
		{"a file of the forge's host under another name", release("v2.0.0", sums, "https://api.github.com@evil.example/x"), "server-failed"},
		{"names that write on the terminal", release("v2.0.0", "\u202eevil\u009b31m\x1b[31m", "https://github.com/x"), "no-checksum"},
		{"names that lead elsewhere", release("v2.0.0", "../../"+sums, "https://github.com/x"), "no-checksum"},
		{"tags that write on the terminal", release("\u202ev9.9.9\x1b[31m", sums, "https://github.com/x"), "no-matching-version"},
		{"a version of too many digits", release("v99999999999999999999.0.0", sums, "https://github.com/x"), "no-matching-version"},
		{"the next page is a file", next("file:///etc/passwd"), "invalid-answer"},
		{"the next page is elsewhere", next("https://api.github.com.evil.example/x"), "invalid-answer"},
		{"the next page is with a user", next("https://api.github.com@evil.example/x"), "invalid-answer"},
	}
	m := newMachine(t)
	m.publish(script("2.0.0"))
	m.env = append(m.env, "GITHUB_TOKEN="+secret)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m.net.Repair()
			m.net.Forget()
			m.net.Break("api.github.com", "", -1, tt.how)
			began := time.Now()
			r := m.fails(1, "init", "--json")
			require.Less(t, time.Since(began), time.Minute)
			var answer struct {
				Error struct{ Kind, Message string }
			}
			require.NoError(t, json.Unmarshal([]byte(r.stdout), &answer))
			require.Equal(t, tt.kind, answer.Error.Kind, answer.Error.Message)
			require.NotEmpty(t, answer.Error.Message)
			require.Less(t, len(answer.Error.Message), 2000)
			for _, never := range []string{secret, "\x1b", "\u009b", "\u202e", "root:"} {
				require.NotContains(t, r.stdout+answer.Error.Message+r.stderr, never)
			}
			for _, request := range m.net.Requests() {
				if request.Host != "api.github.com" {
					require.Empty(t, request.Authorization(), "shown to %s", request.Host)
				}
			}
		})
	}
}

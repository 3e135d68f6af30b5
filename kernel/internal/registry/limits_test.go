package registry_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/registry"
	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

// K06: a rate limit is told as one, with its end and the variable that helps.
func TestRateLimits(t *testing.T) {
	reset := strconv.FormatInt(time.Now().Add(27*time.Minute).Unix(), 10)
	primary := `{"message":"API rate limit exceeded for 203.0.113.7. (But here's the good news: Authenticated requests get a higher rate limit.)","documentation_url":"https://docs.github.com/rest/overview/resources-in-the-rest-api#rate-limiting"}`
	secondary := `{"documentation_url":"https://docs.github.com/free-pro-team@latest/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits","message":"You have exceeded a secondary rate limit."}`
	tests := []struct {
		name, host, variable string
		answer               registrytest.Fault
		within               time.Duration // from now; 0 when the end is not told
	}{
		{"primary", "github.com", "GITHUB_TOKEN", registrytest.Headers(403, primary, "X-RateLimit-Limit", "60", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", reset), 27 * time.Minute},
		{"primary, 429", "github.com", "GITHUB_TOKEN", registrytest.Headers(429, primary, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", reset), 27 * time.Minute},
		{"secondary", "github.com", "GITHUB_TOKEN", registrytest.Headers(403, secondary, "Retry-After", "60", "X-RateLimit-Remaining", "41"), time.Minute},
		{"secondary without an end", "github.com", "GITHUB_TOKEN", registrytest.Headers(403, secondary, "X-RateLimit-Remaining", "41"), 0},
		{"a day instead of seconds", "github.com", "GITHUB_TOKEN", registrytest.Headers(429, "", "Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)), time.Hour},
		{"nonsense instead of seconds", "github.com", "GITHUB_TOKEN", registrytest.Headers(429, "", "Retry-After", "soon", "X-RateLimit-Reset", "-5"), 0},
		{"GitLab", "gitlab.com", "GITLAB_TOKEN", registrytest.Headers(429, "Retry later\n", "RateLimit-Remaining", "0", "RateLimit-Reset", reset), 27 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := registrytest.New(t)
			n.GitHub("github.com")
			n.GitLab("gitlab.com")
			api := map[string]string{"github.com": "api.github.com", "gitlab.com": "gitlab.com"}[tt.host]
			n.Break(api, "", -1, tt.answer)
			for _, constraint := range []string{"", "= 1.0.0"} {
				n.Forget()
				_, err := client(t, n, registry.Options{}).Resolve(t.Context(), query(t, tt.host+"/"+repo, constraint))
				requireCode(t, err, registry.RateLimited)
				require.ErrorContains(t, err, "Set "+tt.variable+" to a token")
				require.NotContains(t, err.Error(), "version", "this says nothing about versions")
				require.Len(t, n.Requests(), 1, "asking again only makes it worse")
				var e *registry.Error
				require.ErrorAs(t, err, &e)
				if tt.within == 0 {
					require.Zero(t, e.RetryAt)
					continue
				}
				require.WithinDuration(t, time.Now().Add(tt.within), e.RetryAt, 10*time.Second)
				require.ErrorContains(t, err, e.RetryAt.Local().Format("15:04:05"))
			}
			_, err := client(t, n, registry.Options{}, tt.variable+"="+token).Resolve(t.Context(), query(t, tt.host+"/"+repo, ""))
			requireCode(t, err, registry.RateLimited)
			require.ErrorContains(t, err, "of the token in "+tt.variable)
		})
	}
}

// A 403 that is no limit is about rights.
func TestForbidden(t *testing.T) {
	for _, code := range []int{401, 403} {
		n := registrytest.New(t)
		n.GitHub("github.com")
		n.Break("api.github.com", "", -1, registrytest.Headers(code, `{"message":"Bad credentials"}`, "X-RateLimit-Remaining", "59"))
		_, err := client(t, n, registry.Options{}, "GITHUB_TOKEN="+token).Resolve(t.Context(), query(t, "github.com/"+repo, ""))
		requireCode(t, err, registry.AccessDenied)
		require.ErrorContains(t, err, "The token is not accepted: it may have expired or lack access (GITHUB_TOKEN)")
	}
}

package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/agentco/agent/kernel/internal/config"
)

var knownHosts = map[string]config.ForgeKind{
	"github.com":   config.GitHub,
	"gitlab.com":   config.GitLab,
	"codeberg.org": config.Gitea,
	"gitea.com":    config.Gitea,
}

// forgeOf is the API of a host and the way there. Only a host that is known, or that the user vouches for, is
// shown a token: any other could pretend to be a forge to get it.
func (c *Client) forgeOf(ctx context.Context, host string) (dialect, *origin, error) {
	host = strings.TrimSuffix(host, ":443")
	kind, trusted := knownHosts[host]
	authEnv := ""
	for _, f := range c.forges {
		if f.Host == host {
			kind, trusted, authEnv = f.Kind, true, f.AuthEnv
		}
	}
	d := dialects[kind]
	if !trusted {
		var err error
		if d, err = c.dialects.get(ctx, host, func() (dialect, error) { return c.detect(ctx, host) }); err != nil {
			return d, nil, err
		}
	}
	base, err := url.Parse(d.base(host))
	if err != nil {
		return d, nil, &Error{Code: UnknownForge, Attempted: "reach " + host, Reason: "it is not the name of a host", Err: err}
	}
	o := &origin{name: host, base: base}
	if trusted {
		o.tokenEnv = d.tokenEnv
		if authEnv != "" {
			o.tokenEnv = authEnv
		}
		o.token = c.token(o.tokenEnv)
	}
	return d, o, nil
}

// probe is a question that only one kind of forge answers in its way.
type probe struct {
	kind config.ForgeKind
	path string
	is   func(status int, h http.Header, answer map[string]any) bool
}

var probes = []probe{
	{config.Gitea, "/api/v1/version", func(status int, _ http.Header, a map[string]any) bool {
		version, ok := a["version"].(string)
		return ok && status == http.StatusOK && version != ""
	}},
	{config.GitLab, "/api/v4/version", func(status int, _ http.Header, a map[string]any) bool {
		message, _ := a["message"].(string)
		_, version := a["revision"].(string)
		return status == http.StatusOK && version || status == http.StatusUnauthorized && strings.HasPrefix(message, "401")
	}},
	{config.GitHub, "/api/v3/meta", func(status int, h http.Header, a map[string]any) bool {
		_, meta := a["verifiable_password_authentication"]
		return status == http.StatusOK && meta || h.Get("X-GitHub-Enterprise-Version") != "" || h.Get("X-GitHub-Request-Id") != ""
	}},
}

func (c *Client) detect(ctx context.Context, host string) (dialect, error) {
	for _, p := range probes {
		r := request{from: &origin{name: host}, url: scheme(host) + host + p.path, accept: "application/json", attempted: "find out which API " + host + " speaks"}
		yes, err := retry(ctx, c, func() (bool, *Error) { return c.probe(ctx, r, p) })
		if err != nil {
			return dialect{}, err
		}
		if yes {
			return dialects[p.kind], nil
		}
	}
	return dialect{}, &Error{Code: UnknownForge, Attempted: "find out which API " + host + " speaks", On: host,
		Reason: "it answers like neither GitHub, GitLab nor Gitea",
		Advice: fmt.Sprintf("Check the host of the source, or say what it is in config.hcl: forge %q { type = \"gitlab\" }", host)}
}

func (c *Client) probe(ctx context.Context, r request, p probe) (bool, *Error) {
	a, e := c.exchange(ctx, r)
	if e != nil {
		return false, e
	}
	defer a.Body.Close()
	if a.StatusCode >= 500 || a.StatusCode == http.StatusTooManyRequests {
		return false, r.refused(a.Response, a.shown)
	}
	var answer map[string]any
	// What is no JSON is no answer of this kind of forge.
	_ = json.NewDecoder(io.LimitReader(a.Body, 1<<20)).Decode(&answer)
	return p.is(a.StatusCode, a.Header, answer), nil
}

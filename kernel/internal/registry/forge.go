package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/agentco/agent/kernel/internal/config"
)

// maxPages bounds how many pages of releases are read: 2000 releases on GitHub and GitLab, 1000 on Gitea.
const maxPages = 20

// maxPage is the size of one page, in bytes. A hundred releases with fifty files each take eight million.
const maxPage = 64 << 20

// maxListing is the size of all pages of a list together, in bytes.
const maxListing = 256 << 20

// forge is where a source is released.
type forge struct{ c *Client }

func (forge) mirror() bool { return false }

func (f forge) list(ctx context.Context, s config.Source) (listing, error) {
	s.Part = "" // providers that are released together share their releases
	return f.c.listings.get(ctx, s.String(), func() (listing, error) { return f.read(ctx, s) })
}

func (f forge) read(ctx context.Context, s config.Source) (listing, error) {
	d, o, err := f.c.forgeOf(ctx, s.Host)
	if err != nil {
		return listing{}, err
	}
	all := listing{from: o.name}
	r := request{from: o, url: o.base.String() + d.first(s), accept: d.accept, attempted: "list the releases of " + s.String()}
	left := int64(maxListing)
	for range maxPages {
		data, header, err := f.c.fetch(ctx, r, min(maxPage, left))
		if err != nil {
			return listing{}, err
		}
		left -= int64(len(data))
		page, err := d.parsePage(data)
		if err != nil {
			return listing{}, r.strange(err)
		}
		all.releases = append(all.releases, o.own(page)...)
		asked, err := url.Parse(r.url)
		if err != nil {
			return listing{}, r.strange(err)
		}
		next := d.next(asked, header)
		if next == "" || next == r.url {
			return all, nil
		}
		if u, err := url.Parse(next); err != nil || !o.owns(u) {
			return listing{}, r.strange(errors.New("its next page is on another host"))
		}
		r.url = next
	}
	all.capped = len(all.releases)
	return all, nil
}

func (f forge) pinned(ctx context.Context, s config.Source, version string) (published, error) {
	d, o, err := f.c.forgeOf(ctx, s.Host)
	if err != nil {
		return published{}, err
	}
	r := request{from: o, url: o.base.String() + d.tagged(s, "v"+version), accept: d.accept,
		attempted: fmt.Sprintf("find release v%s of %s", version, s)}
	data, _, err := f.c.fetch(ctx, r, maxPage)
	if err != nil {
		return published{}, err
	}
	p, err := d.parse(json.RawMessage(data))
	if err == nil && p.tag != "v"+version {
		err = fmt.Errorf("it is about release %.40q", p.tag)
	}
	if err != nil {
		return published{}, r.strange(err)
	}
	return o.own([]published{p})[0], nil
}

// strange is an answer that does not keep to the API.
func (r request) strange(err error) *Error {
	u, _ := url.Parse(r.url)
	e := &Error{Code: InvalidAnswer, Attempted: r.attempted, Reason: fmt.Sprintf("the answer of %s is not understood: %v", r.from.name, err), Err: err}
	if u != nil {
		e.On = shownURL(u)
	}
	return r.blamed(e)
}

// own marks the files of releases as coming from here. A name that is no plain file name, as GitLab's links may
// have, is none of ours: it would only get into messages, and paths.
func (o *origin) own(releases []published) []published {
	for i := range releases {
		assets := releases[i].assets
		assets = slices.DeleteFunc(assets, func(a Asset) bool { return !plainName(a.Name) })
		for j := range assets {
			assets[j].from = o
			assets[j].URL = o.encrypted(assets[j].URL)
		}
		releases[i].assets = assets
	}
	return releases
}

// encrypted is an address on the origin's own host with https. Behind a proxy that ends TLS a Gitea that was not
// told so calls its own files http.
func (o *origin) encrypted(address string) string {
	u, err := url.Parse(address)
	if err == nil && o.base != nil && o.base.Scheme == "https" && u.Scheme == "http" && u.Host == o.base.Host {
		u.Scheme = "https"
		return u.String()
	}
	return address
}

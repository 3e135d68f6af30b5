package changelog

import (
	"bytes"
	"fmt"
)

// link refreshes the link of the Unreleased heading and adds the one of the new version.
func (p *promoter) link() {
	url, at, inline := p.d.urlOf(p.u)
	s := p.shape()
	if s.from != "" && p.rel.Previous != "" && s.from != s.escape(p.rel.Previous) {
		p.warnings = append(p.warnings, staleLink(p.d.name, s.from, p.rel.Previous))
	}
	if url != "" && s.compare != "" {
		p.edits = append(p.edits, edit{at, s.between(p.rel.Tag, s.to)})
	}
	if p.label == "" {
		return
	}
	target := p.versionURL()
	switch {
	case p.d.definitionOf(p.label) >= 0:
		p.warn("a link definition for %s was there already and stays as it is", p.label)
	case target == "" && url == "" && p.anchor() < 0 && !p.rel.Links.Remote:
		// a file without links, in a repository that is published nowhere
	case target == "":
		p.warn("no link for %s: %s shows no shape to follow and the forge of origin is not known; set compare_url", p.label, p.d.name)
	case url != "" && !inline:
		p.defineBelow(p.d.definitionOf(p.d.linkLabel(p.u)), target)
	case p.anchor() >= 0:
		p.defineAbove(p.anchor(), target)
	default:
		p.defineAtEnd(s, target)
	}
}

func (p *promoter) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
}

// shape learns from the link of Unreleased and that of the newest release.
func (p *promoter) shape() shape {
	url, _, _ := p.d.urlOf(p.u)
	urls := []string{url}
	if p.newest != nil {
		newest, _, _ := p.d.urlOf(*p.newest)
		urls = append(urls, newest)
	}
	return learn(p.rel.Links, urls)
}

// versionURL is where the new version links to. The first release of a project has a tag page for want of anything to
// compare with; only a second one shows whether tag pages are the custom.
func (p *promoter) versionURL() string {
	newest := ""
	if len(p.d.Released()) > 1 {
		newest, _, _ = p.d.urlOf(*p.newest)
	}
	return p.shape().forVersion(p.rel, newest)
}

// anchor is the definition of the newest release, or -1.
func (p *promoter) anchor() int {
	if p.newest == nil {
		return -1
	}
	return p.d.definitionOf(p.d.linkLabel(*p.newest))
}

func (p *promoter) define(url string) string {
	p.defined = true
	return "[" + p.label + "]: " + url
}

func (p *promoter) defineBelow(i int, url string) {
	line := span{p.d.blocks[i].start, lineEnd(p.d.src, p.d.blocks[i].target.end-1)}
	text := p.define(url) + p.eol
	if !bytes.HasSuffix(line.of(p.d.src), []byte("\n")) {
		text = p.eol + p.define(url)
	}
	p.edits = append(p.edits, edit{span{line.end, line.end}, text})
}

func (p *promoter) defineAbove(i int, url string) {
	at := p.d.blocks[i].start
	p.edits = append(p.edits, edit{span{at, at}, p.define(url) + p.eol})
}

// defineAtEnd starts the list of definitions of a file that has none for its versions.
func (p *promoter) defineAtEnd(s shape, url string) {
	end := len(p.d.src)
	text := ""
	if !bytes.HasSuffix(p.d.src, []byte("\n")) {
		text = p.eol
	}
	if last := p.d.blocks[len(p.d.blocks)-1]; last.kind != definition {
		text += p.eol
	}
	if p.u.title.bracket && p.u.title.link.end == 0 && s.compare != "" {
		text += "[" + p.d.linkLabel(p.u) + "]: " + s.between(p.rel.Tag, s.to) + p.eol
	}
	p.edits = append(p.edits, edit{span{end, end}, text + p.define(url) + p.eol})
}

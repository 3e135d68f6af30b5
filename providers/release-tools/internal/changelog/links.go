package changelog

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Links says how the pages of a forge are addressed. A template holds {from} and {to}, or {tag}; "" means unknown.
type Links struct {
	Compare string
	Tag     string
	// Forge derives both from a URL of the repository, for a file whose own links show no compare page. May be nil.
	Forge func(url string) (compare, tag string)
	// Remote says that the repository has one, so that a link is missed when its forge is not known.
	Remote bool
	// Fixed makes Compare win over the shape of the links that are in the file.
	Fixed bool
}

var comparePage = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*/compare/)([^?#]+?)(\.{2,3})([^?#/]*|[^?#]*)$`) })

// shape is how this file addresses the pages of its releases, learned from a link of its own or from Links.
type shape struct {
	compare, tag string
	from         string // what the Unreleased link compared from, "" if it did not say
	to           string // the moving end of the Unreleased link
	escaped      bool   // slashes in tags are written %2F
}

// learn reads the shape from the links of the file, the Unreleased one first.
func learn(l Links, urls []string) shape {
	s := shape{compare: l.Compare, tag: l.Tag, to: "HEAD"}
	for i, url := range urls {
		m := comparePage().FindStringSubmatch(url)
		if m == nil {
			continue
		}
		s.escaped = strings.Contains(strings.ToLower(m[2]+m[4]), "%2f")
		if !l.Fixed {
			s.compare = m[1] + "{from}" + m[3] + "{to}"
		}
		if i == 0 {
			s.from, s.to = m[2], m[4]
		}
		break
	}
	if l.Forge != nil && !l.Fixed {
		s.askForge(l.Forge, urls)
	}
	return s
}

// askForge takes the tag pages from the forge that the links of the file lead to, and the comparisons too if none of the
// links shows one.
func (s *shape) askForge(forge func(string) (string, string), urls []string) {
	for _, url := range urls {
		compare, tag := forge(url)
		if compare == "" {
			continue
		}
		if !strings.Contains(strings.Join(urls, "\n"), "/compare/") {
			s.compare = compare
		}
		s.tag = tag
		return
	}
}

func (s shape) between(from, to string) string {
	return strings.NewReplacer("{from}", s.escape(from), "{to}", s.escape(to)).Replace(s.compare)
}

func (s shape) page(tag string) string {
	return strings.NewReplacer("{tag}", s.escape(tag)).Replace(s.tag)
}

func (s shape) escape(tag string) string {
	if s.escaped && !strings.Contains(strings.ToLower(tag), "%2f") {
		return strings.ReplaceAll(tag, "/", "%2F")
	}
	return tag
}

// forVersion is the URL of the new version: a tag page where the newest release has one or where there is nothing to
// compare with, otherwise the comparison with the release before.
func (s shape) forVersion(rel Release, newest string) string {
	if newest != "" && !comparePage().MatchString(newest) && rel.Previous != "" {
		if i := strings.LastIndex(newest, s.escape(rel.Previous)); i >= 0 {
			return newest[:i] + s.escape(rel.Tag) + newest[i+len(s.escape(rel.Previous)):]
		}
	}
	switch {
	case rel.Previous == "" && s.tag != "":
		return s.page(rel.Tag)
	case rel.Previous != "" && s.compare != "":
		return s.between(rel.Previous, rel.Tag)
	}
	return ""
}

// definitionOf returns the index of the definition with that label, or -1.
func (d *Document) definitionOf(label string) int {
	for i, b := range d.blocks {
		if b.kind == definition && b.label == normalise(label) {
			return i
		}
	}
	return -1
}

// urlOf returns the URL a section's heading links to, by an inline link or a definition, and where it stands.
func (d *Document) urlOf(s Section) (url string, at span, inline bool) {
	h := d.blocks[s.block]
	if s.title.link.end > 0 {
		at = span{h.title.start + s.title.link.start, h.title.start + s.title.link.end}
		return string(at.of(d.src)), at, true
	}
	i := d.definitionOf(d.linkLabel(s))
	if i < 0 || d.blocks[i].target.end == 0 {
		return "", span{}, false
	}
	at = d.blocks[i].target
	return string(at.of(d.src)), at, false
}

// linkLabel is the text between the brackets of a heading, or what would stand there.
func (d *Document) linkLabel(s Section) string {
	text := string(d.blocks[s.block].title.of(d.src))
	if rest, ok := strings.CutPrefix(text, "["); ok {
		if label, _, found := strings.Cut(rest, "]"); found {
			return label
		}
	}
	if s.Unreleased {
		return "unreleased"
	}
	return text[:s.title.version.end]
}

func staleLink(name, from, previous string) string {
	return fmt.Sprintf("the Unreleased link of %s compared from %s although the release before this one is %s; both links are right now",
		name, from, previous)
}

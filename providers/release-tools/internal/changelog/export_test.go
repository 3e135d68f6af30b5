package changelog

// LinesOf returns the lines that belong to headings and to link definitions, with their endings.
func LinesOf(src []byte) (headings, links map[string]bool) {
	headings, links = map[string]bool{}, map[string]bool{}
	d, err := Parse("", src)
	if err != nil {
		return headings, links
	}
	for _, b := range d.blocks {
		switch b.kind {
		case heading:
			addLines(headings, b.lines.of(src))
		case definition:
			addLines(links, b.of(src))
		}
	}
	return headings, links
}

func addLines(set map[string]bool, raw []byte) {
	for at := 0; at < len(raw); {
		end := lineEnd(raw, at)
		set[string(raw[at:end])] = true
		at = end
	}
}

package changelog

import "bytes"

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

// Parts returns what a file is made of, each with its place in order: the bytes of its content blocks, the bytes of its
// headings, and the labels of its link definitions.
func Parts(src []byte) (contents, headings, labels []string) {
	d, err := Parse("", src)
	if err != nil {
		return nil, nil, nil
	}
	for _, b := range d.blocks {
		switch b.kind {
		case heading:
			headings = append(headings, string(bytes.TrimRight(b.lines.of(src), "\r\n")))
		case definition:
			labels = append(labels, b.label)
		default:
			contents = append(contents, string(bytes.TrimRight(b.of(src), " \t\r\n")))
		}
	}
	return contents, headings, labels
}

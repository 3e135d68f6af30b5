package main

import "strings"

// meant returns the path that exists and that the caller, who wrote another,
// will have meant, or "". With inMissing the directory that it names is missing.
func (w *workspace) meant(t target, inMissing bool) string {
	dir := strings.TrimSuffix(t.path, t.name)
	likely := []string{
		strings.TrimPrefix(t.name, "file://"),
		strings.Trim(t.name, " \t\r\n\"'`@"),
		strings.ReplaceAll(t.name, `\`, "/"),
	}
	if _, rest, ok := strings.Cut(t.name, "/"); ok && inMissing {
		// The project's own name, or a diff's a and b, before the path.
		likely = append(likely, rest)
	}
	for _, name := range likely {
		if name == "" || name == t.name {
			continue
		}
		if _, err := w.files.Stat(w.files.Abs(dir, name)); err == nil {
			return name
		}
	}
	return ""
}

// literal says of a path that does not exist what in it the caller may have
// expected to be replaced, or "".
func literal(name string) string {
	switch {
	case name == "~" || strings.HasPrefix(name, "~/"):
		return "~ is not expanded, so give the whole path"
	case strings.Contains(name, "://"):
		return "give a path, not a URL"
	case strings.HasPrefix(name, "$") || strings.Contains(name, "/$"):
		return "variables are not expanded, so give the path itself"
	case strings.ContainsAny(name, "*?"):
		return "patterns are not expanded here; find the files with glob"
	}
	return ""
}

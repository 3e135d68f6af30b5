package early

// Words splits a text of the system at blanks and ends of lines.
func Words(text string) (found []string) {
	begin := -1
	for i := range len(text) + 1 {
		blank := i == len(text) || text[i] == ' ' || text[i] == '\n' || text[i] == '\t'
		switch {
		case blank && begin >= 0:
			found = append(found, text[begin:i])
			begin = -1
		case !blank && begin < 0:
			begin = i
		}
	}
	return found
}

// cut returns what comes before and after the first sep.
func cut(text string, sep byte) (before, after string) {
	for i := range len(text) {
		if text[i] == sep {
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

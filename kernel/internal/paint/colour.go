package paint

import "strings"

// harmless drops from SGR parameters what hides text or makes it blink. It returns false when nothing is
// left, or when they are no SGR parameters.
func harmless(params string) (string, bool) {
	if strings.Trim(params, "0123456789;:") != "" {
		return "", false
	}
	fields := strings.Split(params, ";")
	kept := fields[:0:0]
	for i := 0; i < len(fields); i++ {
		switch strings.TrimLeft(fields[i], "0") {
		case "5", "6", "8":
			continue
		case "38", "48", "58": // the fields that follow say which colour
			end := min(i+colourFields(fields[i+1:]), len(fields)-1)
			kept = append(kept, fields[i:end]...)
			i = end
		}
		kept = append(kept, fields[i])
	}
	return strings.Join(kept, ";"), len(kept) > 0
}

// colourFields is how many fields an extended colour takes, by the first of them.
func colourFields(after []string) int {
	switch {
	case len(after) == 0:
		return 0
	case after[0] == "5":
		return 2
	case after[0] == "2":
		return 4
	default:
		return 0
	}
}

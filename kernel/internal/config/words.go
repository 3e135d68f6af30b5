package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agentco/agent/kernel/internal/schema"
)

func quoted(s string) string { return strconv.Quote(s) }

// list is "a, b and c".
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// didYouMean is a sentence that names the candidate nearest to a name, or nothing when none is near.
func didYouMean(name string, candidates []string) string {
	if near := schema.Nearest(name, candidates); near != "" {
		return fmt.Sprintf("Did you mean %q? ", near)
	}
	return ""
}

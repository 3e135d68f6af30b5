package host

import (
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
)

// environment is what a provider is started with: the few variables that programs need to find their way, and what is
// given to it by name. The rest of the kernel's own environment, with whatever secrets it holds, stays here.
func environment(given map[string]string) []string {
	var env []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if _, replaced := given[name]; !replaced && inherited(name) {
			env = append(env, entry)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		env = append(env, name+"="+given[name])
	}
	return env
}

func inherited(name string) bool {
	switch name {
	case "PATH", "HOME", "TMPDIR", "LANG":
		return true
	}
	if runtime.GOOS == "windows" {
		// Without these a program cannot load system libraries or find a temporary folder.
		name = strings.ToUpper(name)
		return slices.Contains([]string{"PATH", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE"}, name)
	}
	return strings.HasPrefix(name, "LC_")
}

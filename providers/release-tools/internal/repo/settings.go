package repo

import (
	"context"
	"strconv"
	"strings"
)

// Settings are the effective ones: of the system, the user and the repository, with includes and the environment.
type Settings map[string]string

// readSettings asks git, because go-git follows no includes and reads no worktree configuration.
func (r *Repo) readSettings(ctx context.Context) (Settings, error) {
	out, err := r.run(ctx, call{args: []string{"config", "--list", "-z"}})
	if err != nil {
		return nil, failed(err, "cannot read git's settings for %s", r.Root)
	}
	s := Settings{}
	for entry := range strings.SplitSeq(out, "\x00") {
		key, value, found := strings.Cut(entry, "\n")
		if !found {
			value = "true" // a key without "=" is a boolean that is set
		}
		s[key] = value
	}
	return s, nil
}

// Bool reads a setting the way git reads booleans. What is neither is false.
func (s Settings) Bool(key string) bool {
	switch strings.ToLower(s[key]) {
	case "true", "yes", "on":
		return true
	}
	n, err := strconv.Atoi(s[key])
	return err == nil && n != 0
}

// Remote is the URL of origin, or "".
func (s Settings) Remote() string { return s["remote.origin.url"] }

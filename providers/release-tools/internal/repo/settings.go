package repo

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Settings are the effective ones: of the system, the user and the repository, with includes and the environment.
type Settings map[string]string

// readSettings asks git, because go-git follows no includes and reads no worktree configuration. From a repository with an
// extension that it does not know git takes no settings, so that its file is read for what that is.
func (r *Repo) readSettings(ctx context.Context) (Settings, error) {
	out, err := r.run(ctx, call{args: []string{"config", "--list", "-z"}})
	s := parseSettings(out)
	if _, taken := s["core.repositoryformatversion"]; err != nil || !taken {
		own, unread := r.run(ctx, call{args: []string{"config", "--list", "-z", "--file", r.commonPath("config")}})
		if refused := parseSettings(own).supported(r.Root); unread == nil && refused != nil {
			return nil, refused
		}
	}
	if err != nil {
		return nil, failed(err, "cannot read git's settings for %s", r.Root)
	}
	return s, s.supported(r.Root)
}

const originURL = "remote.origin.url"

func parseSettings(out string) Settings {
	s := Settings{}
	for entry := range strings.SplitSeq(out, "\x00") {
		key, value, found := strings.Cut(entry, "\n")
		if !found {
			value = "true" // a key without "=" is a boolean that is set
		}
		if _, first := s[key]; !first || key != originURL { // of several URLs the first one is read from
			s[key] = value
		}
	}
	return s
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

// Remote is the URL that origin is read from, or "". What a user has shortened is written out by git.
func (r *Repo) Remote(ctx context.Context) string {
	url := r.Settings[originURL]
	shortened := func(key string) bool {
		return strings.HasPrefix(key, "url.") && strings.HasSuffix(key, ".insteadof")
	}
	if url == "" || !slices.ContainsFunc(slices.Collect(maps.Keys(r.Settings)), shortened) {
		return url
	}
	out, err := r.run(ctx, call{args: []string{"ls-remote", "--get-url", "origin"}})
	if err != nil {
		return url
	}
	return strings.TrimSpace(out)
}

// nowhere reports whether a remote is set up without a URL, as what is left of one that was.
func (s Settings) nowhere(remote string) bool {
	section, some := "remote."+remote+".", false
	for key := range s {
		if key == section+"url" || key == section+"pushurl" {
			return false
		}
		some = some || strings.HasPrefix(key, section)
	}
	return some
}

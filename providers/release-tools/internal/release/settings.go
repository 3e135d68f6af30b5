package release

import (
	"context"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/agentco/agent/providers/release-tools/internal/repo"
)

// Settings are how a project releases.
type Settings struct {
	Changelog     string // path from the root of the repository, with slashes
	TagPrefix     string
	TagMessage    string // template with {version}, {tag}, {date}, {notes}
	Commit        bool   // commit the changelog and tag that commit
	CommitMessage string // template like TagMessage
	Sign          repo.Signing
	Branches      []string // patterns; none means any branch; Detached stands for a detached HEAD
	AllowDirty    bool
	CompareURL    string // template with {from}, {to}; "" means by the links in the file, else by the remote

	Env map[string]string // what git gets besides this process's environment
}

// open opens the repository that holds dir.
func (s Settings) open(ctx context.Context, dir string, now time.Time) (*repo.Repo, error) {
	var env []string
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		env = append(env, name+"="+s.Env[name])
	}
	return repo.Open(ctx, dir, now, env...)
}

// Detached is the entry among the branches that allows a release from a detached HEAD, as CI checks out.
const Detached = "HEAD"

// Check refuses settings that could not work, naming the field.
func (s Settings) Check() error {
	if s.Changelog == "" || !filepath.IsLocal(filepath.FromSlash(s.Changelog)) {
		return refusal.Argument("changelog_path", "bad-setting", "%q is not a path inside the repository: give one relative to its root", s.Changelog)
	}
	if first, _, _ := strings.Cut(path.Clean(s.Changelog), "/"); strings.EqualFold(first, ".git") {
		return refusal.Argument("changelog_path", "bad-setting", "%q lies in git's own folder", s.Changelog)
	}
	if err := repo.CheckTagName(s.TagPrefix + "0.0.0"); err != nil {
		return refusal.Argument("tag_prefix", "bad-setting", "%q cannot start a tag: %w", s.TagPrefix, err)
	}
	if !slices.Contains([]repo.Signing{repo.SignAsConfigured, repo.SignOff, repo.SignSSH, repo.SignOpenPGP}, s.Sign) {
		return refusal.Argument("sign", "bad-setting", "%q is none of off, ssh, openpgp; leave it out to do what git's settings say", s.Sign)
	}
	for _, b := range s.Branches {
		if _, err := path.Match(b, ""); err != nil || b == "" {
			return refusal.Argument("branches", "bad-setting", "%q is no branch name or pattern", b)
		}
	}
	for name, value := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return refusal.Argument("env", "bad-setting", "%q is no environment variable: its name may not be empty or hold =, and neither may hold a NUL byte", name)
		}
	}
	return s.checkTemplates()
}

var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{([a-z_]+)\}`) })

func (s Settings) checkTemplates() error {
	texts := []string{"{version}", "{tag}", "{date}", "{notes}"}
	for _, t := range []struct {
		field, template string
		takes           []string
	}{
		{"tag_message", s.TagMessage, texts},
		{"commit_message", s.CommitMessage, texts},
		{"compare_url", s.CompareURL, []string{"{from}", "{to}"}},
	} {
		for _, p := range placeholder().FindAllString(t.template, -1) {
			if !slices.Contains(t.takes, p) {
				return refusal.Argument(t.field, "bad-setting", "it holds %s; known are %s", p, strings.Join(t.takes, ", "))
			}
		}
		if strings.ContainsRune(t.template, 0) {
			return refusal.Argument(t.field, "bad-setting", "it holds a NUL byte")
		}
		if t.field != "compare_url" && strings.TrimSpace(t.template) == "" {
			return refusal.Argument(t.field, "bad-setting", "it is empty")
		}
	}
	whole := strings.Contains(s.CompareURL, "{from}") && strings.Contains(s.CompareURL, "{to}")
	if s.CompareURL != "" && !whole {
		return refusal.Argument("compare_url", "bad-setting", "%q must hold {from} and {to}", s.CompareURL)
	}
	return nil
}

// fill puts values into a template and ends it with one newline, as git does.
func fill(template string, values ...string) string {
	return strings.TrimRight(strings.NewReplacer(values...).Replace(template), " \t\r\n") + "\n"
}

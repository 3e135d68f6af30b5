package inputs

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"strings"
)

// repository makes 10,000 commits over 2,000 files, 200 tags, and 25 commits after the last; and a CHANGELOG.md of some
// hundred releases.
func repository(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	git := func(in func(io.Writer), args ...string) error {
		c := exec.Command("git", args...)
		c.Dir, c.Stderr = dir, os.Stderr
		if in == nil {
			return c.Run()
		}
		to, err := c.StdinPipe()
		if err != nil {
			return err
		}
		if err := c.Start(); err != nil {
			return err
		}
		w := bufio.NewWriterSize(to, 1<<20)
		in(w)
		flushed := w.Flush()
		_ = to.Close()
		if err := c.Wait(); err != nil {
			return err
		}
		return flushed
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"config", "user.name", "Bench"}, {"config", "user.email", "bench@example.com"},
		{"config", "gc.auto", "0"}, {"remote", "add", "origin", "https://github.com/example/bench.git"},
	} {
		if err := git(nil, args...); err != nil {
			return err
		}
	}
	if err := git(history, "fast-import", "--quiet"); err != nil {
		return err
	}
	if err := git(nil, "reset", "-q", "--hard", "main"); err != nil {
		return err
	}
	return git(nil, "gc", "-q")
}

// Start is a ref of what Copy copied, for going back to it.
const Start = "refs/bench/start"

// Copy copies a repository with its working tree, so that the copy may be changed.
func Copy(ctx context.Context, from, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	for _, args := range [][]string{{"update-ref", Start, "HEAD"}, {"status"}} { // the index learns of the new files
		c := exec.CommandContext(ctx, "git", args...)
		c.Dir = to
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}

// history is a stream for git fast-import.
func history(w io.Writer) {
	r := rand.New(rand.NewSource(7))
	when := 1700000000
	for i := range 10000 {
		when += 300 + r.Intn(3000)
		message := commitMessage(r, i)
		fmt.Fprintf(w, "commit refs/heads/main\nmark :%d\n", i+1)
		fmt.Fprintf(w, "author Dev%d <dev%d@example.com> %d +0000\ncommitter Bench <bench@example.com> %d +0000\n", i%17, i%17, when, when)
		fmt.Fprintf(w, "data %d\n%s\n", len(message), message)
		if i > 0 {
			fmt.Fprintf(w, "from :%d\n", i)
		} else {
			log := changelog(r)
			fmt.Fprintf(w, "M 100644 inline CHANGELOG.md\ndata %d\n%s\n", len(log), log)
			for f := range 2000 {
				file(w, r, f)
			}
		}
		file(w, r, r.Intn(2000))
		if i%50 == 24 {
			k := i / 50
			fmt.Fprintf(w, "tag v%d.%d.%d\nfrom :%d\ntagger Bench <bench@example.com> %d +0000\ndata 8\nrelease\n\n", k/50, k/5%10, k%5, i+1, when)
		}
	}
}

func file(w io.Writer, r *rand.Rand, id int) {
	b := text(r, 300+r.Intn(900))
	fmt.Fprintf(w, "M 100644 inline src/d%02d/e%d/file%04d.go\ndata %d\n%s\n", id%40, id%5, id, len(b), b)
}

func commitMessage(r *rand.Rand, i int) string {
	types := []string{"feat", "fix", "fix", "chore", "docs", "refactor", "perf", "test", "ci", "build"}
	scopes := []string{"(kernel)", "(bash)", "(fs)", "(release)", "(mcp)", "(cli)", ""}
	bang := ""
	if r.Intn(100) == 0 {
		bang = "!"
	}
	m := fmt.Sprintf("%s%s%s: %s the %s of %s (#%d)\n", types[r.Intn(len(types))], scopes[r.Intn(len(scopes))], bang, word(r), word(r), word(r), i)
	if r.Intn(3) == 0 {
		m += "\n" + strings.Repeat("A sentence of body that says why this was done. ", 3) + fmt.Sprintf("\n\nRefs: #%d\n", r.Intn(9999))
	}
	if bang != "" {
		m += "\nBREAKING CHANGE: the " + word(r) + " is gone\n"
	}
	return m
}

// changelog is 292 kB of releases.
func changelog(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("# Changelog\n\n## [Unreleased]\n\n### Added\n\n- the newest of all\n\n### Fixed\n\n- what was wrong with it\n")
	for v := 700; b.Len() < 292000; v-- {
		fmt.Fprintf(&b, "\n## [0.%d.0] - 2024-01-01\n\n### Added\n\n", v)
		for range 5 {
			fmt.Fprintf(&b, "- %s the %s of a %s, so that %s and %s agree about it\n", word(r), word(r), word(r), word(r), word(r))
		}
	}
	return b.String()
}

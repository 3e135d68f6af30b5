package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/agentco/agent/providers/filesystem/internal/atomicfile"
	"github.com/agentco/agent/providers/filesystem/internal/ignore"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/jail"
)

// config is the provider block.
type config struct {
	AllowedRoots  []string `hcl:"allowed_roots" doc:"Directories that may be read and written. Relative ones are taken from the project's root."`
	ReadOnlyRoots []string `hcl:"read_only_roots,optional" doc:"Directories that may be read. Inside an allowed root they protect a part of it."`
	Deny          []string `hcl:"deny" default:"[\".env\",\".env.*\",\"!.env.example\",\"id_rsa\",\"id_dsa\",\"id_ecdsa\",\"id_ed25519\",\"id_ecdsa_sk\",\"id_ed25519_sk\",\"*.pem\",\"*.key\",\"*.p12\",\"*.pfx\",\"*.ppk\",\"*.jks\"]" doc:"Patterns of names that are neither listed, read nor written, in the manner of .gitignore."`
	Gitignore     bool     `hcl:"respect_gitignore" default:"true" doc:"Leave out of searches what git ignores; a call can still ask for it."`
	ReadFirst     bool     `hcl:"require_read_before_write" default:"true" doc:"Refuse to change an existing file that the session has not read."`
	MaxResult     int      `hcl:"max_result_bytes" default:"51200" doc:"The most text a result holds, in bytes."`

	files *workspace
}

// The least and the most that max_result_bytes may be: below it not even a
// clipped line is of use, above it a message outgrows the transport.
const (
	minResult = 256
	maxResult = 1 << 20
)

//go:embed descriptions/*.md
var descriptions embed.FS

// description returns what models are told about an operation.
func description(operation string) string {
	text, err := descriptions.ReadFile(path.Join("descriptions", operation+".md"))
	if err != nil {
		panic("no description of " + operation) // a fault of the program
	}
	return strings.TrimSpace(string(text))
}

func provider() *sdk.Provider[config] {
	p := sdk.New[config]("filesystem", "Reads and changes files inside the allowed roots.")
	p.Version(version).Source("github.com/agentco/agent//provider-filesystem")
	p.Setup(setup).Close(func(c *config) error { return c.files.close() })
	operations(p)
	return p
}

// operations adds what the provider can do.
func operations(p *sdk.Provider[config]) {
	sdk.Tool(p, "read_file", description("read_file"), readFile).
		ReadOnly().Timeout(30 * time.Second).Preview(planRead).Show(showRead)
	sdk.Tool(p, "list_directory", description("list_directory"), listDirectory).
		ReadOnly().Timeout(time.Minute).Preview(planList).Show(showList)
	searches(p)
	sdk.Tool(p, "read_many", description("read_many"), readMany).
		ReadOnly().Timeout(time.Minute).Preview(planMany).Show(showMany)
	sdk.Tool(p, "stat", description("stat"), stat).
		ReadOnly().Timeout(30 * time.Second).Preview(planStat).Show(showStat)
	sdk.Tool(p, "write_file", description("write_file"), writeFile).
		Mutates(sdk.Moderate).Concurrent("path").Idempotent().Timeout(time.Minute).Preview(planWrite).Show(showWrite)
	sdk.Tool(p, "edit_file", description("edit_file"), editFile).
		Mutates(sdk.Moderate).Concurrent("path").Timeout(time.Minute).Preview(planEdit).Show(showEdit)
	// Which files it changes is inside an argument, out of the reach of a key: the
	// provider's own locks keep calls apart.
	sdk.Tool(p, "apply_edits", description("apply_edits"), applyEdits).
		Mutates(sdk.Moderate).Concurrent().Timeout(5 * time.Minute).Preview(planApply).Show(showApply)
	sdk.Tool(p, "move", description("move"), move).
		Mutates(sdk.Moderate).Concurrent("source", "destination").Timeout(10 * time.Minute).Preview(planMove).Show(showMove)
	sdk.Tool(p, "copy", description("copy"), copyPath).
		Mutates(sdk.Moderate).Concurrent("source", "destination").Timeout(10 * time.Minute).Preview(planCopy).Show(showCopy)
	sdk.Tool(p, "create_directory", description("create_directory"), createDirectory).
		Mutates(sdk.Low).Concurrent("path").Idempotent().Timeout(30 * time.Second).Preview(planDirectory).Show(showDirectory)
	sdk.Tool(p, "delete", description("delete"), deletePath).
		Mutates(sdk.High).Concurrent("path").Timeout(10 * time.Minute).Preview(planDelete).Show(showDelete)
	sdk.Tool(p, "undo", description("undo"), undoPath).
		Mutates(sdk.Moderate).Concurrent("path").Timeout(time.Minute).Preview(planUndo).Show(showUndo)
}

// setup opens the jail and clears away what a killed process left in it.
func setup(_ context.Context, c *config, env sdk.Env) error {
	if c.MaxResult < minResult || c.MaxResult > maxResult {
		return sdk.BadField("max_result_bytes", "%d is not between %d and %d", c.MaxResult, minResult, maxResult)
	}
	if len(c.AllowedRoots) == 0 {
		return sdk.BadField("allowed_roots", "give at least one directory")
	}
	if slices.Contains(c.AllowedRoots, "") {
		return sdk.BadField("allowed_roots", "one of them is empty; name a directory, or . for the project's root")
	}
	j, err := jail.New(jail.Options{
		Roots:    absolute(env.Dir, c.AllowedRoots),
		ReadOnly: absolute(env.Dir, c.ReadOnlyRoots),
		Deny:     c.Deny,
		Own:      atomicfile.IsTemp,
	})
	if err != nil {
		return badField(err)
	}
	c.files = &workspace{
		files: j, close: j.Close, maxResult: c.MaxResult, readFirst: c.ReadFirst,
		roots:  strings.Join(append(slices.Clone(c.AllowedRoots), c.ReadOnlyRoots...), ", "),
		memory: semaphore.NewWeighted(heldRoom),
	}
	if c.Gitignore {
		c.files.ignores = ignore.NewTree(j, ignore.UserConfig())
	}
	c.files.writer.FS = j
	c.files.keepJournal(j)
	return nil
}

func absolute(dir string, names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		if out[i] = name; !filepath.IsAbs(name) {
			out[i] = filepath.Join(dir, name)
		}
	}
	return out
}

// badField says which attribute made a jail impossible.
func badField(err error) error {
	var root *jail.RootError
	var pattern *jail.PatternError
	switch {
	case errors.As(err, &pattern):
		return sdk.BadField("deny", "%w", pattern)
	case errors.As(err, &root) && root.ReadOnly:
		return sdk.BadField("read_only_roots", "%w; give existing directories", root)
	case errors.As(err, &root):
		return sdk.BadField("allowed_roots", "%w; give existing directories", root)
	}
	return err
}

// keepJournal notes temporary files on disk from now on, and removes those that
// earlier processes noted and did not live to remove. Without a place for the
// notes the provider works all the same; a crash may then leave a file behind.
func (w *workspace) keepJournal(j *jail.Jail) {
	dir, err := journalDir()
	if err != nil {
		return
	}
	_, _ = atomicfile.Recover(dir, j)
	journal, err := atomicfile.OpenJournal(dir)
	if err != nil {
		return
	}
	w.writer.Journal = journal
	w.undos.Dir, w.writer.Room = journal.Scratch, w.undos.GiveWay
	w.close = func() error { return errors.Join(w.undos.Close(), journal.Close(), j.Close()) }
}

// journalDir is the user's own in any case: names in it decide what is removed.
func journalDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the user's cache directory: %w", err)
	}
	return filepath.Join(cache, "agent", "filesystem"), nil
}

package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/schema"
	"github.com/agentco/agent/kernel/internal/session"
	"github.com/agentco/agent/kernel/internal/session/export"
)

// exportFormats are the formats by their names.
var exportFormats = map[string]func(context.Context, *session.File, io.Writer) error{
	"jsonl": export.JSONLines, "markdown": export.Markdown, "cast": export.Cast,
}

// exportEndings are the formats that the ending of a file's name stands for.
var exportEndings = map[string]string{".jsonl": "jsonl", ".md": "markdown", ".markdown": "markdown", ".cast": "cast"}

func (a *app) sessionExportCommand() *cobra.Command {
	var format, output string
	cmd := a.aboutOne(&cobra.Command{
		Use:   "export [SESSION]",
		Short: "Write a session in a format that others read",
		Long: `Write a session to stdout, or to a file that does not exist yet:

  jsonl     all there is: a line {"session": …}, then a line {"event": …} for each event, with its hash
  markdown  for people: the calls with their arguments, output and results
  cast      for asciinema: what the calls printed, when they did

No provider is needed.`,
		Example: `  agent session export --format markdown
  agent session export 01JAB -o session.cast && asciinema play session.cast
  agent session export | jq -r '.event.kind // empty'`,
	}, func(session string) error { return a.sessionExport(session, format, output) })
	names := slices.Sorted(maps.Keys(exportFormats))
	cmd.Flags().StringVarP(&format, "format", "f", "", "`format`: "+strings.Join(names, ", ")+" (default: as the name of the file says, else jsonl)")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this `file` instead of stdout")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *app) sessionExport(word, format, output string) error {
	if format == "" {
		format = exportEndings[strings.ToLower(filepath.Ext(output))]
	}
	if format == "" {
		format = "jsonl"
	}
	write := exportFormats[format]
	if write == nil {
		names := slices.Sorted(maps.Keys(exportFormats))
		return usagef("unknown format %q%s: use %s", format, schema.Hint(format, names), strings.Join(names, ", "))
	}
	f, err := a.openSession(word)
	if err != nil {
		return err
	}
	defer f.Close()
	if output == "" {
		return write(a.ctx, f, a.display.Out())
	}
	return a.exportTo(output, func(w io.Writer) error { return write(a.ctx, f, w) })
}

// exportTo writes a new file, for its owner alone: what happened may be nobody else's business. Half a file is none.
func (a *app) exportTo(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return usagef("%s is there already: choose another name, or delete it", path)
	}
	if err != nil {
		return err
	}
	b := bufio.NewWriter(file)
	if err := errors.Join(write(b), b.Flush(), file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	if a.flags.json {
		a.writeJSON(map[string]string{"written": path})
	} else {
		a.display.Note("written to " + path)
	}
	return nil
}

package cli

import (
	"crypto/sha256"
	"os"
	"strconv"
	"strings"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/paint"
)

// shellHelp says what can be typed.
func shellHelp(p paint.Painter) string {
	var own [][]string
	for _, o := range ownWords() {
		name := o.name
		if o.argument {
			name += " [NAME]"
		}
		own = append(own, []string{"  " + name, o.summary})
	}
	return prose(`A line is a tool or a slash command with its arguments, as behind 'agent invoke' and 'agent run':

  filesystem.read_file path=README.md
  bash.bash command='go test ./...'
  /changelog since=1.2.0

Values are quoted as in a shell, and nothing is expanded. --args JSON (or @FILE) and --timeout 90s work here, too. A quote that is not closed goes on in the next row. Besides these there are

`, "", nil, p) + tableText(nil, own, p) + prose(`
Tab completes; Up and Ctrl-R go back to earlier lines. Ctrl-C cancels what runs; a second one within two seconds kills the providers, which the next call starts again. What runs in the background ends with the shell. A line that begins with a blank, or has a secret in it, is not kept.
`, "", nil, p)
}

// help shows what can be typed.
func (sh *shell) help(topic string) error {
	if topic != "" {
		return sh.tools(topic)
	}
	if sh.flags.json { // where stdout is for calls
		sh.display.Note(shellHelp(sh.display.ErrPainter()))
		return nil
	}
	sh.printf("%s", shellHelp(sh.display.OutPainter()))
	return nil
}

// ownSummary says what a word of the shell's own does; empty when it is none.
func ownSummary(word string) string {
	for _, o := range ownWords() {
		if o.name == word {
			return o.summary
		}
	}
	return ""
}

// tools lists the tools and commands, those of one provider, or shows one.
func (sh *shell) tools(which string) error {
	ops := sh.session.Operations()
	ofProvider := only(ops, func(op engine.Operation) bool { return op.Provider == which })
	switch {
	case which == "":
		sh.listTools(ops, nil)
	case len(ofProvider) > 0:
		sh.listTools(ofProvider, nil)
	case ownSummary(which) != "":
		sh.display.Note(which + ": " + ownSummary(which))
	default:
		op, err := sh.lookup(which)
		if err != nil {
			return err
		}
		sh.showTool(op)
	}
	return nil
}

func (sh *shell) showHistory(string) error {
	lines := sh.history.Lines()
	width := len(strconv.Itoa(len(lines)))
	for i, line := range lines {
		number := strconv.Itoa(i + 1)
		sh.printf("%s%s  %s\n", strings.Repeat(" ", width-len(number)), number, paint.Text(line))
	}
	return nil
}

// reload begins a new session, once agent.hcl can be read.
func (sh *shell) reload(string) error {
	p, err := sh.open()
	if err != nil {
		return err
	}
	sh.reloaded = p
	return errReload
}

// watchedFile is a file that others may change.
type watchedFile struct {
	path string
	sum  [sha256.Size]byte
}

func watchFile(path string) watchedFile {
	text, _ := os.ReadFile(path)
	return watchedFile{path, sha256.Sum256(text)}
}

// changed reports whether it is another file than the last time.
func (w *watchedFile) changed() bool {
	before := *w
	*w = watchFile(w.path)
	return *w != before
}

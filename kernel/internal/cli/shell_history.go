package cli

import (
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"

	"github.com/agentco/agent/kernel/internal/lineedit"
	"github.com/agentco/agent/kernel/internal/words"
)

// openHistory reads what was typed in earlier shells. One that cannot be kept is no reason not to go on.
func (sh *shell) openHistory() {
	h, err := lineedit.OpenHistory(filepath.Join(xdg.StateHome, "agent", "history"))
	if err != nil {
		sh.warn("the lines of this shell are not kept: " + err.Error())
	}
	sh.history = h
}

// remember keeps a line, unless it holds a secret or begins with a blank.
func (sh *shell) remember(text string, lines []words.Line) {
	if strings.HasPrefix(text, " ") || sh.secret(text, lines) {
		return
	}
	if err := sh.history.Add(strings.TrimRight(text, " \t\n")); err != nil {
		sh.warn("this line is not kept: " + err.Error())
	}
}

// secretNames are parts of the names of arguments whose values are nobody else's business.
var secretNames = []string{"password", "passwd", "passphrase", "secret", "token", "credential", "api_key", "apikey", "private_key", "authorization"}

// secret reports whether a line holds a secret: a value of the configuration that is one, or an argument that is one
// by its name.
func (sh *shell) secret(text string, lines []words.Line) bool {
	if sh.secrets.Text(text) != text {
		return true
	}
	for _, line := range lines {
		for _, w := range line {
			name, _, _ := strings.Cut(strings.ToLower(w.Text), "=")
			if strings.HasPrefix(w.Text, "{") || strings.HasPrefix(w.Text, "--args") {
				name = strings.ToLower(w.Text) // the names within
			}
			for _, secret := range secretNames {
				if strings.Contains(strings.ReplaceAll(name, "-", "_"), secret) {
					return true
				}
			}
		}
	}
	return false
}

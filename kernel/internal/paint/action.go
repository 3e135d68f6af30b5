package paint

import (
	"encoding/json"
	"strconv"
	"strings"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
)

// listMark is what stands before item i of a list.
func listMark(l *renderv1.ListNode, i int, bullet string) string {
	if l.GetOrdered() {
		return strconv.Itoa(i+1) + ". "
	}
	return bullet
}

// actionCommand is the command that starts an action. It may be pasted into a shell, so what the provider
// sent is quoted for one.
func actionCommand(a *renderv1.ActionNode) string {
	command := "agent invoke " + shellWord(Line(a.GetProvider()+"."+a.GetToolName()))
	if len(a.GetArgs().GetFields()) == 0 {
		return command
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a.GetArgs().AsMap()); err != nil {
		return command
	}
	return command + " --args " + shellWord(Line(b.String()))
}

// shellWord quotes a word for a POSIX shell unless it needs no quotes.
func shellWord(s string) string {
	special := func(r rune) bool {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/", r)
		return !plain
	}
	if s != "" && s[0] != '-' && strings.IndexFunc(s, special) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

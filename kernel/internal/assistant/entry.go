package assistant

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Entry is how a client starts the server.
type Entry struct {
	// Name is what the client calls the server.
	Name string
	// Command is the path of the program, Args what it is started with.
	Command string
	Args    []string
}

// names are those that every client takes, and that need no quotes in any of the formats.
var names = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,31}$`) })

// Check finds what no client could start.
func (e Entry) Check() error {
	if !names().MatchString(e.Name) {
		return fmt.Errorf("%q is no name for a server: write up to 32 letters, digits and -", e.Name)
	}
	for _, text := range append([]string{e.Command}, e.Args...) {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%q is not UTF-8, and configuration files hold nothing else", text)
		}
	}
	return nil
}

// is reports whether what a file has, as it was decoded, starts the same. Other keys are the user's own.
func (e Entry) is(there any) bool {
	object, ok := there.(map[string]any)
	if !ok || object["command"] != e.Command {
		return false
	}
	var args []any
	for _, arg := range e.Args {
		args = append(args, arg)
	}
	have, _ := object["args"].([]any)
	return len(args) == len(have) && (len(args) == 0 || reflect.DeepEqual(args, have))
}

// ourKeys are those that an entry is written with, in any format.
var ourKeys = []string{"type", "source", "command", "args", "tool_timeout_sec"}

// serves reports whether what a file has is agent's own entry for the same folder, with other flags: whoever writes an
// entry anew means to change that one.
func (e Entry) serves(there any) bool {
	object, ok := there.(map[string]any)
	command, _ := object["command"].(string)
	args, _ := object["args"].([]any)
	if !ok || program(command) != program(e.Command) || len(args) < 3 || len(e.Args) < 3 {
		return false
	}
	for key := range object {
		if !slices.Contains(ourKeys, key) {
			return false // the user's own, which must not go with it
		}
	}
	for i, arg := range e.Args[:3] { // -C, the folder, mcp
		if args[i] != any(arg) {
			return false
		}
	}
	return e.Args[2] == "mcp"
}

// program is the name of what a path starts, whichever system the path is of.
func program(path string) string {
	return strings.TrimSuffix(path[strings.LastIndexAny(path, `/\`)+1:], ".exe")
}

// OtherError says that a file has a server of that name, which is started in another way.
type OtherError struct {
	Name string
	// There is how it is started, for people.
	There string
}

func (e *OtherError) Error() string {
	return fmt.Sprintf("it has another server %q: %s", e.Name, e.There)
}

// other describes what is there in the place of an entry.
func other(name string, there any) error {
	object, _ := there.(map[string]any)
	said := "one without a command"
	for _, key := range []string{"url", "httpUrl", "command"} {
		if value, ok := object[key].(string); ok {
			said = fmt.Sprintf("%q", value)
		}
	}
	if args, ok := object["args"].([]any); ok {
		for _, arg := range args {
			said += fmt.Sprintf(" %q", fmt.Sprint(arg))
		}
	}
	return &OtherError{Name: name, There: said}
}

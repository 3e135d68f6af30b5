package assistant

import (
	"fmt"
	"reflect"
	"regexp"
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

// Package tags looks for mistakes in the tags of struct fields that package reflect passes over.
package tags

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Fault says what is wrong with a tag: it is not of the form that package reflect reads, which takes it for none then, or has
// one of the keys in mistaken, which say what to write instead. It is empty when nothing is.
func Fault(tag reflect.StructTag, mistaken map[string]string) string {
	rest := string(tag)
	for {
		rest = strings.TrimLeft(rest, " ")
		if rest == "" {
			return ""
		}
		key, after, _ := strings.Cut(rest, ":")
		quoted, err := strconv.QuotedPrefix(after)
		if key == "" || strings.ContainsAny(key, " \"") || err != nil || quoted[0] != '"' {
			return fmt.Sprintf("the tag `%s` is malformed at %q: write KEY:\"VALUE\" KEY:\"VALUE\"", tag, rest)
		}
		if advice := mistaken[key]; advice != "" {
			return fmt.Sprintf("a %s tag means nothing here: %s", key, advice)
		}
		rest = after[len(quoted):]
	}
}

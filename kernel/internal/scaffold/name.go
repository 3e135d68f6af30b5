package scaffold

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// nameBytes is the longest name: it is a part of file names, of addresses, and of PROVIDER.TOOL in every list.
const nameBytes = 40

// A name is a part of the names of released files, whose parts are put together with underscores.
var (
	namePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`) })
	notInNames  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9]+`) })
)

// CheckName says what is wrong with the name of a provider, and what it may have been meant to be.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("a provider needs a name, such as wordcount")
	case len(name) > nameBytes:
		return fmt.Errorf("the name has %d characters, and at most %d fit", len(name), nameBytes)
	case namePattern().MatchString(name) && !strings.HasPrefix(name, "provider-"):
		return nil
	}
	text := fmt.Sprintf("%q cannot be the name of a provider: it is lower-case letters and digits, in words joined by -, beginning with a letter", name)
	if strings.HasPrefix(name, "provider-") {
		text = fmt.Sprintf("%q is the name of a binary: a provider is named without provider-", name)
	}
	if near := nearName(name); near != "" {
		text += fmt.Sprintf(" (did you mean %s?)", near)
	}
	return errors.New(text)
}

// nearName is what of a name can be kept, or nothing.
func nearName(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
		return ""
	}
	words := strings.Trim(notInNames().ReplaceAllString(strings.ToLower(name), "-"), "-")
	words = strings.TrimPrefix(words, "provider-")
	if !namePattern().MatchString(words) {
		return ""
	}
	return words
}

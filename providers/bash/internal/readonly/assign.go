package readonly

import (
	"regexp"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// What may be set for one command: how it sorts, what it calls the months, where it is.
var (
	localeName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:LC_[A-Z]+|LANG)$`) })
	localeValue = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:|C|POSIX|C\.(?:UTF-8|utf8)|[a-z]{2,3}_[A-Z]{2}\.(?:UTF-8|utf8))$`)
	})
	zone = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:[A-Za-z0-9][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*)?$`)
	})
)

// assignments writes down what is set for one command. That there is no pager is so anyway.
func (j *judge) assignments(all []*syntax.Assign) error {
	for _, a := range all {
		value := literal("")
		if a.Value != nil {
			read, err := j.words([]*syntax.Word{a.Value})
			if err != nil {
				return err
			}
			if len(read) != 1 || read[0].open {
				return j.refuse(a, "its value cannot be known; write it literally")
			}
			value = read[0]
		}
		name := ""
		if a.Name != nil && a.Index == nil && a.Array == nil && !a.Append && !a.Naked {
			name = a.Name.Value
		}
		switch {
		case (name == "GIT_PAGER" || name == "PAGER") && value.text == "cat":
		case localeName().MatchString(name) && localeValue().MatchString(value.text), name == "TZ" && zone().MatchString(value.text),
			name == "NO_COLOR" && number().MatchString(value.text):
			j.write(name, "=", value.quoted, " ")
		default:
			return j.refuse(a, "variables cannot be set, not even for one command (but LC_ALL, LANG and TZ); use bash")
		}
	}
	return nil
}

package semver

import "fmt"

// Level is a part of a version that a release raises.
type Level int

// The levels, the smallest first. None raises nothing.
const (
	None Level = iota
	Patch
	Minor
	Major
)

// String names the level as SemVer does.
func (l Level) String() string { return [...]string{"none", "patch", "minor", "major"}[l] }

// Final returns v without its pre-release and build parts.
func (v Version) Final() Version { return Version{core: v.core} }

// Initial reports whether v is of the time before 1.0.0, when nothing is promised.
func (v Version) Initial() bool { return v.core[0] == "0" }

// Raise returns the final version after v's core by one step of that level.
func (v Version) Raise(l Level) Version {
	next := v.Final()
	if l == None {
		return next
	}
	at := int(Major - l)
	next.core[at] = increment(next.core[at])
	for i := at + 1; i < len(next.core); i++ {
		next.core[i] = "0"
	}
	return next
}

// Pre returns the pre-release of v's core after the others: label.1, or one more than the highest label.N among them.
// label is one identifier that is no number.
func (v Version) Pre(label string, others []Version) (Version, error) {
	if err := checkIdentifier("pre-release", label, true); err != nil {
		return Version{}, err
	}
	if isNumber(label) {
		return Version{}, fmt.Errorf("the pre-release label %q is a number; it must hold a letter, as rc does", label)
	}
	highest := "0"
	for _, o := range others {
		if o.core == v.core && len(o.pre) == 2 && o.pre[0] == label && isNumber(o.pre[1]) && compareNumbers(highest, o.pre[1]) < 0 {
			highest = o.pre[1]
		}
	}
	return Version{core: v.core, pre: []string{label, increment(highest)}}, nil
}

// increment adds one to a decimal number of any length.
func increment(number string) string {
	digits := []byte(number)
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i] < '9' {
			digits[i]++
			return string(digits)
		}
		digits[i] = '0'
	}
	return "1" + string(digits)
}

package conformance

import (
	"io"
	"time"
)

// Options say how a provider is tried. The zero value tries what needs no knowledge of it and changes nothing.
type Options struct {
	// Scenario is the path of a scenario file; see README.md. Without one, calls are made up from the schema.
	Scenario string
	// Config is the path of a file with the attributes of a provider block, in HCL; it replaces the scenario's.
	Config string
	// Rules are globs on rule ids, such as "cancel.*". None means every rule.
	Rules []string
	// AllowMutations lets calls be made up for operations of kind resource, in a temporary folder. A scenario's own
	// calls need no such leave.
	AllowMutations bool
	// Timeout is how long one step of the provider may take: a start, an answer, a call. Zero means ten seconds.
	Timeout time.Duration
	// Seen is told each row as it is decided, from several goroutines but one at a time. It may be nil.
	Seen func(Row)
	// Stderr takes what the provider prints there; nil drops it.
	Stderr io.Writer
}

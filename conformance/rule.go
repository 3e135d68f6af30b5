package conformance

// Level is how much a rule binds, as in RFC 2119. What the protocol states as a fact binds like a MUST.
type Level string

// Levels. Breaking a Should is a warning; breaking one of the others fails a provider.
const (
	Must    Level = "MUST"
	MustNot Level = "MUST NOT"
	Should  Level = "SHOULD"
)

// Rule is one demand of the protocol that can be seen from outside a provider.
type Rule struct {
	// ID is stable: waivers, globs and reports name it.
	ID    string `json:"id"`
	Level Level  `json:"level"`
	// Title is the rule in one sentence.
	Title string `json:"title"`
	// Section is where the rule stands, such as "docs/protocol.md, Invoke".
	Section string `json:"section"`
	// Sentence is what is written there.
	Sentence string `json:"sentence"`
}

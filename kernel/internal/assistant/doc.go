// Package assistant puts a server into the configuration of coding assistants, and leaves everything else in it as it
// was: comments, layout, the order of things.
//
//	Client ─► where its file is ─► Edit (JSON with comments, TOML) ─► Write
//
// An edit changes text. What it makes is read again, and is refused when it says anything else than what was there
// before and the one entry.
package assistant

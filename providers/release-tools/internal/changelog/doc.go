// Package changelog reads a changelog as a Markdown parser sees it and edits it by byte span.
//
// goldmark decides what is a heading, a code fence, a comment or a link definition; this package only remembers where in
// the file each of them lies. Nothing is ever printed back from the tree: an edit replaces a few spans, and every other
// byte, line endings and byte order mark included, stays as it was.
//
//	Parse ─→ Document ─┬─ Unreleased, Find, Since   what a reader asks for
//	                   ├─ Add, Merge                new bytes with more entries
//	                   └─ Promote                   new bytes for a release
package changelog

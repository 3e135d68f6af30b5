// Package conventional reads commit messages by Conventional Commits 1.0.0, as far as a release needs: what kind of change
// a commit is, whether it breaks, and which commits cancel each other out.
//
// It is our own because the well-kept parsers read one message, and strictly: none of them sees the changes listed in the
// body of a squash merge, and none knows what a revert took back.
package conventional

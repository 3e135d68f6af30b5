// Package conformance holds providers to the protocol from outside: real binaries, driven by a client of its own.
package conformance

// Package early is for what happens in a process before most of its packages are initialised: a keeper, which whoever starts
// a provider or a command puts between, is one more process of the same binary that branches off there, and stays small by
// that. What it needs of Linux is here, for the kernel's keepers and for those of providers.
//
// What this package imports is initialised first, whatever its name: package strings would bring the tables of package
// unicode, and golang.org/x/sys/unix comes after half of all there is.
package early

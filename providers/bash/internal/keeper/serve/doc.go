// Package serve is what a keeper does: see package keeper, which starts it. It is a package
// of its own for what it does not import. Packages are initialised in the order of their
// paths, each as soon as its imports are; with these few imports this one comes before
// nearly all of the provider, and since a keeper never gets any further, it is spared the
// rest. So it does without strings, bytes and fmt: what imports the tables of package
// unicode comes as late as that name.
package serve

package jail

// Elsewhere than on Unix there are no names by a held directory: what is
// exchanged in a path at this moment can still lead to another part of the root.

func renameAcross(source, target place) error {
	return source.root.handle.Rename(source.rel, target.rel)
}

func linkAcross(source, target place) error {
	return source.root.handle.Link(source.rel, target.rel)
}

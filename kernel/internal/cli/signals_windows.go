package cli

// awaitSignals has nothing to wait for: a Ctrl-C of the console arrives on a thread of its own at once.
func awaitSignals() {}

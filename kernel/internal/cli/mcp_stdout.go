package cli

// LendOut gives stdout to something else for good: what would go there goes to stderr.
func (d *display) LendOut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.out, d.output[0] = d.err, d.output[1]
}

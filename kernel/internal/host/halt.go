package host

// Halt ends the process at once, as Kill does, but the next call starts another one. It is no crash of the provider's.
// Nothing of the process is left when Halt returns; it may be called from many goroutines.
func (p *Provider) Halt() {
	p.mu.Lock()
	l := p.life
	p.mu.Unlock()
	if l != nil {
		l.dismiss()
		l.end(0)
	}
}

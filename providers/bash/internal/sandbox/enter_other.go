//go:build !linux

package sandbox

import "os"

func openDirectory(name string) (*os.File, error) { return os.Open(name) }

// Enter fails if there is anything to enter: there is no Landlock here.
func Enter() error {
	if _, given, err := received(); err != nil || !given {
		return err
	}
	return ErrUnavailable
}

// Available reports that there is no sandbox here.
func (p *Policy) Available() error { return p.Check() }

// Check reports that a policy cannot be entered here.
func (p *Policy) Check() error {
	if p == nil {
		return nil
	}
	return ErrUnavailable
}

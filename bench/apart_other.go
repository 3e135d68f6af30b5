//go:build !linux

package main

import (
	"context"
	"errors"
)

// apart needs the namespaces of Linux, as the measuring needs its /proc.
func apart(context.Context) error { return errors.New("measuring needs Linux") }

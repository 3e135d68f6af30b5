package sdk

import (
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

const (
	// chunkBytes is the size of the largest output chunk: large enough for full speed, small enough that a
	// slow reader holds up little.
	chunkBytes = 32 << 10
	// reportBytes is how much output a cancellation report carries.
	reportBytes = 64 << 10
)

// output is one stream of a call as an io.Writer.
type output struct {
	events *events
	stream toolv1.OutputStream
}

func (o *output) Write(p []byte) (n int, err error) {
	// A secret is looked for before the cut into chunks, which could go through it.
	rest := o.events.secrets.Bytes(p)
	for len(rest) > 0 {
		chunk := rest[:min(len(rest), chunkBytes)]
		if err := o.events.write(o.stream, chunk); err != nil {
			return min(n, len(p)), err
		}
		n, rest = n+len(chunk), rest[len(chunk):]
	}
	return len(p), nil
}

// tail keeps the last reportBytes written to it.
type tail struct{ kept []byte }

func (t *tail) write(p []byte) {
	t.kept = append(t.kept, p...)
	if extra := len(t.kept) - reportBytes; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
}

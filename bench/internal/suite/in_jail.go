package suite

import (
	"context"
	"io"

	"github.com/agentco/agent/bench/internal/subject"
	"github.com/agentco/agent/sdk/jail"
)

// inJailHas reads as a provider does: the file is opened below a root, and read up to its length.
func inJailHas(j *jail.Jail) map[string]subject.Function {
	read := func(_ context.Context, vars subject.Vars, _ func([]byte)) (string, error) {
		f, err := j.Open(vars["path"])
		if err != nil {
			return "", err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return "", err
		}
		b := make([]byte, info.Size())
		_, err = io.ReadFull(f, b)
		return "", err
	}
	return map[string]subject.Function{"read4k": read, "read4k_c8": read, "read1m": read}
}

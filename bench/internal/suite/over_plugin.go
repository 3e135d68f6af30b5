package suite

import (
	"context"

	"github.com/agentco/agent/bench/internal/floor"
	"github.com/agentco/agent/bench/internal/subject"
)

// streamedHas is what a call takes of which the answer comes as a stream.
func streamedHas(p *floor.Started) map[string]subject.Function {
	read := func(ctx context.Context, vars subject.Vars, _ func([]byte)) (text string, err error) {
		err = p.Stream(ctx, "r"+vars["path"], func(b []byte) { text = string(b) })
		return text, err
	}
	return map[string]subject.Function{
		"noop": func(ctx context.Context, _ subject.Vars, _ func([]byte)) (string, error) {
			return "", p.Stream(ctx, "n", func([]byte) {})
		},
		"read4k": read, "read4k_c8": read, "read1m": read,
	}
}

func goPluginHas(p *floor.Started) map[string]subject.Function {
	read := func(ctx context.Context, vars subject.Vars, _ func([]byte)) (string, error) {
		b, err := p.Call(ctx, "r"+vars["path"])
		return string(b), err
	}
	run := func(ctx context.Context, vars subject.Vars, out func([]byte)) (string, error) {
		return "", p.Stream(ctx, "p"+vars["cmd"], out)
	}
	has := map[string]subject.Function{
		"noop": func(ctx context.Context, _ subject.Vars, _ func([]byte)) (string, error) {
			_, err := p.Call(ctx, "n")
			return "", err
		},
		"read4k": read, "read4k_c8": read, "read1m": read, "true": run, "ttfb": run,
	}
	for _, name := range []string{"print1mb", "print16mb", "print100mb", "print256mb", "print1024mb", "cancel_group"} {
		has[name] = run
	}
	return has
}

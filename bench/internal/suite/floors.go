package suite

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/agentco/agent/bench/internal/floor"
	"github.com/agentco/agent/bench/internal/subject"
)

// The floors: what nothing that does the same can beat.
const (
	inProcess = "in-process"
	goPlugin  = "go-plugin"
)

var floorsAbout = map[string]string{
	inProcess: "the work in this process, with nothing around it",
	goPlugin:  "a bare provider over go-plugin with mutual TLS (cmd/floorplugin)",
}

// floorNotes say what rows of the floors are about.
var floorNotes = map[string]string{"list10k": "name"}

// floorOps are the operations of the floors, before they are started.
func floorOps() map[string]map[string]subject.Function {
	return map[string]map[string]subject.Function{inProcess: inProcessHas(), goPlugin: goPluginHas(nil)}
}

// floors are the subjects that do nothing but the work.
func floors(vars subject.Vars) ([]subject.Subject, error) {
	provider, err := floor.Start(filepath.Join(vars["bin"], "floorplugin"))
	if err != nil {
		return nil, err
	}
	return []subject.Subject{
		&subject.Functions{Called: inProcess, Has: inProcessHas()},
		&subject.Functions{Called: goPlugin, Has: goPluginHas(provider), Process: provider.PID, End: provider.Kill},
	}, nil
}

func inProcessHas() map[string]subject.Function {
	read := func(_ context.Context, vars subject.Vars, _ func([]byte)) (string, error) {
		_, err := os.ReadFile(vars["path"])
		return "", err
	}
	edit := func(sync bool) subject.Function {
		return func(_ context.Context, vars subject.Vars, _ func([]byte)) (string, error) {
			return "", floor.Edit(vars["path"], vars["old"], vars["new"], sync)
		}
	}
	glob := func(_ context.Context, vars subject.Vars, _ func([]byte)) (string, error) {
		return floor.Walk(vars["dir"], vars["suffix"])
	}
	grep := func(ctx context.Context, vars subject.Vars, _ func([]byte)) (string, error) {
		return floor.Grep(ctx, vars["dir"], vars["needle"])
	}
	run := func(ctx context.Context, vars subject.Vars, out func([]byte)) (string, error) {
		return "", floor.RunPTY(ctx, vars["cmd"], func(b []byte) error { out(b); return nil })
	}
	has := map[string]subject.Function{
		"read4k": read, "read4k_c8": read, "read1m": read, "edit4k": edit(false), "edit1m": edit(false), "replace4k": edit(true), "replace1m": edit(true),
		"write1m": func(_ context.Context, vars subject.Vars, _ func([]byte)) (string, error) {
			return "", os.WriteFile(vars["path"], []byte(vars["content"]), 0o644)
		},
		"list10k": func(_ context.Context, vars subject.Vars, _ func([]byte)) (string, error) {
			return floor.List(vars["dir"])
		},
		"line64m":  line(32 << 20),
		"line2g":   line(1 << 30),
		"count64m": count,
		"count2g":  count,
		"tree10k":  glob,
		"true":     run,
		"ttfb":     run,
		"spawn": func(ctx context.Context, _ subject.Vars, _ func([]byte)) (string, error) {
			return "", exec.CommandContext(ctx, "/bin/true").Run()
		},
		"glob1k": glob, "glob10k": glob, "glob100k": glob,
		"grep1k": grep, "grep10k": grep, "grep100k": grep,
	}
	for _, name := range []string{"print1mb", "print16mb", "print100mb", "print256mb", "print1024mb", "cancel_group"} {
		has[name] = run
	}
	return has
}

// line reads a line that begins about there, by one pread.
func line(at int64) subject.Function {
	return func(_ context.Context, vars subject.Vars, _ func([]byte)) (string, error) {
		f, err := os.Open(vars["path"])
		if err != nil {
			return "", err
		}
		defer f.Close()
		buf := make([]byte, 4096)
		n, err := f.ReadAt(buf, at)
		text, _, _ := bytes.Cut(buf[:n], []byte("\n"))
		return string(text), err
	}
}

// count reads up to a line, counting them: what finding a line by its number takes without an index.
func count(_ context.Context, vars subject.Vars, _ func([]byte)) (string, error) {
	f, err := os.Open(vars["path"])
	if err != nil {
		return "", err
	}
	defer f.Close()
	left, err := strconv.Atoi(vars["lines"])
	buf := make([]byte, 256<<10)
	for err == nil && left > 0 {
		var n int
		n, err = f.Read(buf)
		left -= bytes.Count(buf[:n], []byte("\n"))
	}
	return "", err
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

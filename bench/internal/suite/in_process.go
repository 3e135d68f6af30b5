package suite

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strconv"

	"github.com/agentco/agent/bench/internal/floor"
	"github.com/agentco/agent/bench/internal/subject"
)

// inProcessHas does the work; keep is a file for what edits replace.
func inProcessHas(keep *os.File) map[string]subject.Function {
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
		"look10k": func(_ context.Context, vars subject.Vars, _ func([]byte)) (string, error) {
			return floor.Look(vars["dir"])
		},
		"undoable1m": undoable(keep),
		"line64m":    line(32 << 20),
		"line2g":     line(1 << 30),
		"count64m":   count,
		"count2g":    count,
		"tree10k":    glob,
		"true":       run,
		"ttfb":       run,
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

// undoable edits a file safely, and keeps what was in it in another.
func undoable(keep *os.File) subject.Function {
	return func(_ context.Context, vars subject.Vars, _ func([]byte)) (string, error) {
		_, _, err := floor.Undoable(vars["path"], vars["old"], vars["new"], keep)
		return "", err
	}
}

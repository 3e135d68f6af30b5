package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/agentco/agent/bench/internal/prepare"
	"github.com/agentco/agent/bench/internal/subject"
)

// countCalls counts what real calls take, through the released binaries: bytes between client and server, and system calls
// of the kernel with its providers.
func countCalls(ctx context.Context, repo string) (all counts, skipped map[string]string, err error) {
	dir, err := os.MkdirTemp("", "counted")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	place := prepare.Place{Root: dir, Repo: repo, Say: func(string) {}}
	if err := place.Ours(ctx); err != nil {
		return nil, nil, err
	}
	vars := place.Vars().With("path", filepath.Join(place.Inputs(), "4k.txt"))
	if err := os.WriteFile(vars["path"], []byte(strings.Repeat("a line of text\n", 273)), 0o644); err != nil {
		return nil, nil, err
	}
	all, skipped = counts{}, map[string]string{}
	if err := wire(ctx, vars, all); err != nil {
		return nil, nil, err
	}
	return all, skipped, systemCalls(ctx, dir, vars, all, skipped)
}

// peer is agent mcp or enginebench, in a home of its own.
func peer(kind string, command ...string) *subject.Peer {
	tool := "filesystem_read_file"
	if kind == "engine" {
		tool = "filesystem.read_file"
	}
	env := map[string]string{}
	for _, dir := range []string{"CONFIG", "STATE", "CACHE", "DATA"} {
		env["XDG_"+dir+"_HOME"] = "${home}/" + strings.ToLower(dir)
	}
	return &subject.Peer{Name: command[0], Kind: kind, Command: command, Env: env, Ops: map[string]*subject.Op{
		"read": {Steps: []subject.Step{{Tool: tool, Args: map[string]any{"path": "${path}"}}}},
	}}
}

// wire counts the bytes of a call of agent mcp over stdio.
func wire(ctx context.Context, vars subject.Vars, all counts) error {
	const calls = 20
	s, err := peer("mcp", "${bin}/agent", "mcp").Dial(ctx, vars)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.Batch(ctx, "read", subject.Batch{N: 1, Vars: vars}); err != nil { // the providers are there now
		return err
	}
	got, err := s.Batch(ctx, "read", subject.Batch{N: calls, Vars: vars})
	if err != nil {
		return err
	}
	all["bytes of mcp read 4 KiB"] = float64(got.WireIn+got.WireOut) / calls
	return nil
}

// counted are the system calls that are held: those that a call needs, and none that depend on who waits for whom.
const counted = "trace=read,write,openat,open,close,statx,newfstatat,fstat,fsync,fdatasync,pread64,pwrite64,sendmsg,recvmsg,lseek"

// systemCalls counts those of the engine with its providers: more calls less fewer, so that the start does not count.
func systemCalls(ctx context.Context, dir string, vars subject.Vars, all counts, skipped map[string]string) error {
	const name = "system calls of engine read 4 KiB"
	strace, err := exec.LookPath("strace")
	if err != nil {
		skipped[name] = "there is no strace on this machine"
		return nil
	}
	const few, many = 100, 500
	var totals [2]float64
	for i, calls := range []int{few, many} {
		log := filepath.Join(dir, fmt.Sprintf("strace-%d", i))
		s, err := peer("engine", strace, "-f", "-c", "-o", log, "-e", counted, "${bin}/enginebench").Dial(ctx, vars)
		if err != nil {
			return err
		}
		_, err = s.Batch(ctx, "read", subject.Batch{N: calls, Vars: vars})
		s.Close()
		if err != nil {
			skipped[name] = "it does not run under strace here: " + subject.Cut(err.Error(), 200)
			return nil
		}
		if totals[i], err = total(log); err != nil {
			return err
		}
	}
	all[name] = (totals[1] - totals[0]) / (many - few)
	return nil
}

// total is the number of calls in a summary of strace.
func total(log string) (n float64, err error) {
	b, err := os.ReadFile(log)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) >= 5 && f[len(f)-1] == "total" {
			_, err = fmt.Sscan(f[3], &n)
			return n, err
		}
	}
	return 0, fmt.Errorf("strace gave no total: %s", subject.Cut(string(b), 300))
}

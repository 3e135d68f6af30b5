package report

import (
	"fmt"
	"slices"

	"github.com/agentco/agent/bench/internal/row"
)

// The names of the subjects that targets speak of.
const (
	native   = "ours-engine"
	stdio    = "ours-mcp"
	inside   = "in-process"
	goPlugin = "go-plugin"
	bareMCP  = "bare-mcp"
	chain    = "bare-chain"
	steps    = "ours-repo"
	commits  = "ours-commit"

	clientFloor = "client-floor"
	clientSame  = "client-same"
	chainSame   = "bare-chain-same"
	linked      = "bare-linked"
	jailed      = "in-jail"
	streamed    = "go-plugin-stream"
	logAlone    = "log-alone"
)

// Targets are what this project holds itself to.
var Targets = []Target{
	{Work: "cold: start to tools/list, from the catalogue", Ours: median(stdio, "cold"), Against: median(bareMCP, "cold"), Named: "bare MCP server", AtMost: 1.3, Bounds: bareStart},
	{Work: "cold: all three providers ready", Ours: median(native, "start3"), Against: median(goPlugin, "cold"), Named: "one bare go-plugin start", AtMost: 1.5},
	{Work: "read 4 KiB, native", Ours: median(native, "read4k"), Against: median(goPlugin, "read4k"), Named: "bare go-plugin", AtMost: 1.3, Bounds: sumOf(provided("read4k"))},
	{Work: "read 4 KiB, MCP", Ours: median(stdio, "read4k"), Against: median(chain, "read4k"), Named: "bare chain", AtMost: 1.1,
		Bounds: sumOf(client("read4k"), provided("read4k")), Beside: []part{fromMemory("read4k"), answered("read4k")}},
	{Work: "read 4 KiB, 8 at once, native", Ours: median(native, "read4k_c8"), Against: median(goPlugin, "read4k_c8"), Named: "bare go-plugin", AtMost: 1.3,
		Bounds: crowded(native, "read4k_c8", "read4k", 8), Beside: []part{ofTheCores(native, "read4k_c8", 8)}},
	{Work: "read 4 KiB, 8 at once, MCP", Ours: median(stdio, "read4k_c8"), Against: median(chain, "read4k_c8"), Named: "bare chain", AtMost: 1,
		Bounds: crowded(stdio, "read4k_c8", "read4k", 8, clientSame), Beside: []part{ofTheCores(stdio, "read4k_c8", 8), answered("read4k_c8")}},
	{Work: "read 1 MiB, native", Ours: median(native, "read1m"), Against: median(goPlugin, "read1m"), Named: "bare go-plugin", AtMost: 1.2,
		Bounds: slices.Concat(sumOf(provided("read1m")), kept(native, "read1m"))},
	{Work: "read 1 MiB, MCP", Ours: median(stdio, "read1m"), Against: bestMCP("read1m"), Named: "best MCP server", AtMost: 1, Remark: wireOfRead,
		Bounds: sumOf(client("read1m"), provided("read1m")), Beside: []part{fromMemory("read1m"), answered("read1m")}},
	{Work: "one line in 64 MiB", Ours: median(native, "line64m"), Against: sum(median(goPlugin, "noop"), median(inside, "line64m")), Named: "bare call and pread", AtMost: 3, Remark: aboutPread("count64m"), Bounds: counted("count64m")},
	{Work: "one line in 64 MiB, where lines are counted", Ours: median(native, "line64m"), Against: sum(median(goPlugin, "noop"), median(inside, "count64m")), Named: "bare call and counting up to it", AtMost: 3},
	{Work: "one line in 64 MiB, growth of memory", Ours: growthOf(native, "line64m"), Against: fixed(32), Named: "32 MB", AtMost: 1},
	{Work: "one line in 2 GiB", Ours: median(native, "line2g"), Against: sum(median(goPlugin, "noop"), median(inside, "line2g")), Named: "bare call and pread", AtMost: 3, Remark: aboutPread("count2g"), Bounds: counted("count2g")},
	{Work: "one line in 2 GiB, where lines are counted", Ours: median(native, "line2g"), Against: sum(median(goPlugin, "noop"), median(inside, "count2g")), Named: "bare call and counting up to it", AtMost: 3},
	{Work: "one line in 2 GiB, growth of memory", Ours: growthOf(native, "line2g"), Against: fixed(32), Named: "32 MB", AtMost: 1},
	{Work: "edit in 4 KiB, native", Ours: median(native, "edit4k"), Against: sum(median(chain, "read4k"), median(inside, "replace4k")), Named: "bare chain and fsync'd rename", AtMost: 2},
	{Work: "edit in 4 KiB, MCP", Ours: median(stdio, "edit4k"), Against: sum(median(chain, "read4k"), median(inside, "replace4k")), Named: "bare chain and fsync'd rename", AtMost: 2},
	{Work: "edit in 1 MiB, native", Ours: median(native, "edit1m"), Against: sum(median(chain, "read4k"), median(inside, "replace1m")), Named: "bare chain and fsync'd rename", AtMost: 2,
		Bounds: sumOf(edited("undoable1m", "edit1m"))},
	{Work: "edit in 1 MiB, MCP", Ours: median(stdio, "edit1m"), Against: sum(median(chain, "read4k"), median(inside, "replace1m")), Named: "bare chain and fsync'd rename", AtMost: 2,
		Bounds: sumOf(client("edit1m"), edited("undoable1m", "edit1m")), Beside: []part{fromMemory("edit1m")}},
	{Work: "list 10,000 entries, MCP", Ours: median(stdio, "list10k"), Against: best("list10k"), Named: "best peer", AtMost: 1, Remark: aboutLists,
		Bounds: sumOf(client("list10k"), one("1 MiB over a bare stream", median(streamed, "read1m")), one("names, and an lstat each", median(inside, "look10k")), logged("list10k")),
		Beside: []part{fromMemory("list10k")}},
	{Work: "glob in 100,000 files, native", Ours: median(native, "glob100k"), Against: least(median("rg", "glob100k"), median("fd", "glob100k")), Named: "rg and fd", AtMost: 1},
	{Work: "grep in 100,000 files, native", Ours: median(native, "grep100k"), Against: median("rg", "grep100k"), Named: "rg", AtMost: 1.1},
	{Work: "true, native", Ours: median(native, "true"), Against: median(goPlugin, "true"), Named: "bare go-plugin, pty", AtMost: 1.3, Bounds: sumOf(one("bare go-plugin, pty", median(goPlugin, "true")), logged("true"))},
	{Work: "true, MCP", Ours: median(stdio, "true"), Against: median(chain, "true"), Named: "bare chain", AtMost: 1,
		Bounds: sumOf(client("true"), one("bare go-plugin, pty", median(goPlugin, "true")), logged("true")), Beside: []part{fromMemory("true")}},
	{Work: "first byte, native", Ours: median(native, "ttfb"), Against: median(goPlugin, "ttfb"), Named: "bare go-plugin", AtMost: 1.3},
	{Work: "first byte, MCP", Ours: median(stdio, "ttfb"), Against: best("ttfb"), Named: "best peer", AtMost: 1},
	{Work: "print 100 MB, native", Ours: throughput(native, "print100mb"), Against: throughput(inside, "print100mb"), Named: "raw pty", AtLeast: 0.8},
	{Work: "print 100 MB, MCP (head, tail and file)", Ours: bounded(stdio, "print100mb"), Against: median(native, "print100mb"), Named: "native", AtMost: 1.3},
	{Work: "cancel a group, MCP", Ours: median(stdio, "cancel_group"), Against: sum(fixed(10), median(inside, "cancel_group")), Named: "10 ms and the kill itself", AtMost: 1},
	{Work: "cancel a child in its own session, MCP", Ours: median(stdio, "cancel_setsid"), Against: fixed(30), Named: "30 ms", AtMost: 1},
	{Work: "idle memory, kernel and providers", Ours: memory(stdio, "idle"), Against: fixed(65), Named: "65 MB", AtMost: 1},
	{Work: "peak memory over the suite, MCP", Ours: memory(stdio, "peak"), Against: fixed(128), Named: "128 MB", AtMost: 1},
	{Work: "annotated tag, in the provider", Ours: median(steps, "tag"), Against: median("git", "tag"), Named: "git tag -a", AtMost: 1, Remark: text(
		"The step of a release, its repository open: no command makes a tag and nothing else. `release` is the whole command, beside git without its checks.")},
	{Work: "status of the repository, in the provider", Ours: median(steps, "status"), Against: median("git", "status"), Named: "git status", AtMost: 1.5, Remark: text(
		"The step of a release, its repository open. It does not look for untracked files, since they stop no release; `git status` does.")},
	{Work: "/changelog of 292 kB, native", Ours: median(native, "changelog"), Against: fixed(10), Named: "10 ms", AtMost: 1},
	{Work: "next version, native", Ours: median(native, "next_version"), Against: fixed(60), Named: "60 ms", AtMost: 1},
	{Work: "changelog draft, native", Ours: median(native, "changelog_draft"), Against: fixed(60), Named: "60 ms", AtMost: 1},
	{Work: "draft of the whole history, native", Ours: median(native, "draft_all"), Against: fixed(400), Named: "400 ms", AtMost: 1, Remark: func(s *row.Set) string {
		return fmt.Sprintf("From the first tag on: 9,975 of 10,000 commits. `git log` of all takes %s ms.", number(median("git", "log_all")(s)))
	}},
	{Work: "true in a sandbox, native", Ours: median("ours-sandboxed", "sandboxed"), Against: fixed(30), Named: "30 ms", AtMost: 1},
}

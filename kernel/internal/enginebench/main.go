// Command enginebench makes calls through the engine, as agent does for a project, and says how long each took: with its
// policies, a session log, and every change approved. The bench module builds and drives it, since the kernel has no
// importable API; it is part of no release.
//
// It reads one request a line on stdin and answers each with one line on stdout, in the order in which they end. The
// project is that of the working directory, its providers those of dev_overrides in config.hcl.
//
//	{"id":1,"operation":"filesystem.read_file","arguments":{"path":"a.txt"},"n":1000,"workers":8}
//	{"id":1,"took_ms":[0.31, …],"result":{"content":"…"}}
//
// With -log there is no project and no engine: an operation is "read" or "change", whose entries go to a session log alone.
//
//	{"id":1,"operation":"read","arguments":{"bytes":4096},"n":1000,"workers":8}
//
// In strings of arguments ${i} is the number of the repetition, ${next} the one after. {"cancel":1} cancels a request.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"

	"github.com/agentco/agent/proto/lean"
)

// softMemory is that of agent.
const softMemory = 28 << 20

func main() {
	alone := flag.Bool("log", false, "time the session log alone")
	flag.Parse()
	lean.Bound(softMemory)
	if err := serve(context.Background(), *alone); err != nil {
		fmt.Fprintln(os.Stderr, "enginebench:", err)
		os.Exit(1)
	}
}

// request is one line of stdin. Exactly one of Operation, Start, Log and Cancel says what is wanted.
type request struct {
	ID int `json:"id"`
	// Operation is PROVIDER.TOOL or /COMMAND; of the log alone read or change.
	Operation string          `json:"operation"`
	Arguments json.RawMessage `json:"arguments"`
	// Dir is the working directory of the session. Default: that of this process.
	Dir string `json:"dir"`
	// Start opens an engine of its own with so many providers, and closes it: of one provider under several names.
	Start int `json:"start"`
	// Log writes a session of so many events, then times durable ones at its end.
	Log int `json:"log"`
	// Cancel is the id of a request that runs.
	Cancel int `json:"cancel"`

	From    int `json:"from"`
	N       int `json:"n"`
	Workers int `json:"workers"`
	LimitMS int `json:"limit_ms"`
}

// answer is one line of stdout.
type answer struct {
	ID      int       `json:"id"`
	TookMS  []float64 `json:"took_ms,omitempty"`
	FirstMS []float64 `json:"first_ms,omitempty"` // to the first output, of calls that print
	// Output is how many bytes the last call printed as it ran.
	Output int `json:"output,omitempty"`
	// Result is the payload of the last call.
	Result json.RawMessage `json:"result,omitempty"`
	// CPUMS is the processor time of one call, of the log alone.
	CPUMS float64 `json:"cpu_ms,omitempty"`
	// Session is the file that Log wrote.
	Session string `json:"session,omitempty"`
	Error   string `json:"error,omitempty"`
}

// serve answers until stdin ends. It opens no project when the log is alone.
func serve(ctx context.Context, alone bool) (err error) {
	b := &bench{folder: sessions()}
	if !alone {
		b, err = open(ctx)
	}
	if err != nil {
		return err
	}
	defer b.close()
	var (
		mu      sync.Mutex
		running = map[int]context.CancelFunc{}
		work    sync.WaitGroup
		out     = json.NewEncoder(os.Stdout)
	)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var r request
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return fmt.Errorf("a request is no JSON object: %w", err)
		}
		mu.Lock()
		if r.Cancel != 0 {
			if cancel := running[r.Cancel]; cancel != nil {
				cancel()
			}
			mu.Unlock()
			continue
		}
		ctx, cancel := context.WithCancel(ctx)
		running[r.ID] = cancel
		mu.Unlock()
		work.Go(func() {
			a := b.answer(ctx, r)
			cancel()
			mu.Lock()
			defer mu.Unlock()
			delete(running, r.ID)
			_ = out.Encode(a)
		})
	}
	mu.Lock()
	for _, cancel := range running {
		cancel()
	}
	mu.Unlock()
	work.Wait()
	return in.Err()
}

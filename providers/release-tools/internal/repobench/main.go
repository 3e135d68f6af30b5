// Command repobench times what a release does with a repository, one step by itself: no command of the provider tags or
// looks at the working tree and does nothing else. The bench module builds and drives it; it is part of no release.
//
// It reads one request a line on stdin and answers each with one line on stdout. The repository is open before the time
// begins, as it is in a release.
//
//	{"id":1,"operation":"tag","dir":"/a/repository","n":50}
//	{"id":1,"took_ms":[3.1, …],"result":{"changes":0}}
//
// tag makes an annotated tag, and takes it back untimed; status lists what of the working tree is not as HEAD has it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/repo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "repobench:", err)
		os.Exit(1)
	}
}

// request is one line of stdin.
type request struct {
	ID        int    `json:"id"`
	Operation string `json:"operation"`
	Dir       string `json:"dir"`
	N         int    `json:"n"`
	// From is the number of the first repetition.
	From int `json:"from"`
	// LimitMS ends the repetitions early.
	LimitMS int `json:"limit_ms"`
}

// answer is one line of stdout.
type answer struct {
	ID     int       `json:"id"`
	TookMS []float64 `json:"took_ms,omitempty"`
	Result result    `json:"result"`
	Error  string    `json:"error,omitempty"`
}

// result is what the last repetition found.
type result struct {
	Changes int `json:"changes"`
}

// serve answers until the input ends.
func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	lines, answers := bufio.NewScanner(in), json.NewEncoder(out)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("a request is no JSON object: %w", err)
		}
		a := answer{ID: r.ID}
		if err := a.measure(ctx, r); err != nil {
			a.Error = err.Error()
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (a *answer) measure(ctx context.Context, r request) error {
	opened, err := repo.Open(ctx, r.Dir, time.Now())
	if err != nil {
		return err
	}
	once := map[string]func(context.Context, *repo.Repo, int) (time.Duration, error){"tag": tag, "status": a.status}[r.Operation]
	if once == nil {
		return fmt.Errorf("there is no operation %q: tag and status are known", r.Operation)
	}
	begun := time.Now()
	for i := range max(1, r.N) {
		if i > 0 && r.LimitMS > 0 && time.Since(begun) > time.Duration(r.LimitMS)*time.Millisecond {
			return nil
		}
		took, err := once(ctx, opened, r.From+i)
		if err != nil {
			return err
		}
		a.TookMS = append(a.TookMS, float64(took.Nanoseconds())/1e6)
	}
	return nil
}

// tag makes the tag that a release makes, which is signed only where git's settings say so. Each has a name of its own, so
// that its object is not there yet.
func tag(ctx context.Context, r *repo.Repo, i int) (time.Duration, error) {
	name := "repobench-" + strconv.Itoa(i)
	by, err := r.Tagger(ctx)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	made, err := r.Tag(ctx, name, "release\n", r.Head.Commit, by, repo.SignAsConfigured)
	took := time.Since(begun)
	if err != nil {
		return 0, err
	}
	return took, r.DropTag(ctx, name, made)
}

func (a *answer) status(ctx context.Context, r *repo.Repo, _ int) (time.Duration, error) {
	begun := time.Now()
	changes, err := r.Changes(ctx)
	a.Result.Changes = len(changes)
	return time.Since(begun), err
}

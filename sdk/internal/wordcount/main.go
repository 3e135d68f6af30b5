// Command wordcount is a provider with one read-only tool.
package main

import (
	"bufio"
	"context"
	"fmt"

	"github.com/agentco/agent/sdk"
)

type config struct {
	Root sdk.Root `hcl:"root" doc:"Directory the tool may read."`
}
type countIn struct {
	Path string `json:"path" doc:"File to count, relative to root."`
}
type countOut struct {
	Words int `json:"words"`
}

func main() { sdk.Main(provider()) }

func provider() *sdk.Provider[config] {
	p := sdk.New[config]("wordcount", "Counts words in files.")
	sdk.Tool(p, "count", "Count the words in one file.", count).ReadOnly().Preview(plan).Render(line)
	return p
}

func plan(_ *sdk.Call[config], in countIn) (sdk.Plan, error) { return sdk.Reads(in.Path), nil }
func line(in countIn, out countOut) string                   { return fmt.Sprintf("%s: %d words", in.Path, out.Words) }

func count(ctx context.Context, call *sdk.Call[config], in countIn) (out countOut, err error) {
	f, err := call.Config.Root.Open(in.Path)
	if err != nil {
		return out, err
	}
	defer f.Close()
	words := bufio.NewScanner(sdk.Reader(ctx, f))
	words.Split(bufio.ScanWords)
	for ; words.Scan(); out.Words++ {
		call.Progress(out.Words, 0)
	}
	return out, words.Err()
}

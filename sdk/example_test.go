package sdk_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	kernelv1 "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
	"github.com/agentco/agent/sdk/sdktest"
)

type greetIn struct {
	Name string `json:"name" doc:"Whom to greet."`
}

type greetOut struct {
	Greeting string `json:"greeting"`
}

func greet(_ context.Context, _ *sdk.Call[struct{}], in greetIn) (greetOut, error) {
	return greetOut{"Hello, " + in.Name}, nil
}

func ExampleTool() {
	p := sdk.New[struct{}]("hello", "Greets people.")
	sdk.Tool(p, "greet", "Greet somebody.", greet).ReadOnly()

	try(p, nil, func(h *sdktest.Harness) {
		show(h.Call(context.Background(), "greet", map[string]any{"name": "Ada"}))
		show(h.Call(context.Background(), "greet", map[string]any{"nam": "Ada"}))
	})
	// Output:
	// result: {"greeting":"Hello, Ada"}
	// invalid_arguments: argument nam is not known; did you mean name?
}

func ExampleCommand() {
	p := sdk.New[struct{}]("hello", "Greets people.")
	sdk.Command(p, "greet", "Greet somebody.", greet).ReadOnly()

	try(p, nil, func(h *sdktest.Harness) {
		fmt.Println("/" + h.Commands(context.Background())[0].GetName())
		show(h.Call(context.Background(), "greet", map[string]any{"name": "Ada"}))
	})
	// Output:
	// /greet
	// result: {"greeting":"Hello, Ada"}
}

type noteIn struct {
	Path string `json:"path" doc:"Note to write, relative to root."`
	Text string `json:"text"`
}

type noteOut struct {
	Path  string `json:"path"`
	Bytes int    `json:"bytes"`
}

type notes struct {
	Root sdk.Root `hcl:"root" doc:"Where the notes are."`
}

func writeNote(_ context.Context, c *sdk.Call[notes], in noteIn) (noteOut, error) {
	err := c.Config.Root.WriteFile(in.Path, []byte(in.Text), 0o600)
	return noteOut{in.Path, len(in.Text)}, err
}

func ExampleRoot() {
	dir, _ := os.MkdirTemp("", "notes")
	defer os.RemoveAll(dir)

	p := sdk.New[notes]("notes", "Keeps notes.")
	sdk.Tool(p, "write", "Write a note.", writeNote).Mutates(sdk.Low).Concurrent("path").Idempotent()

	try(p, map[string]any{"root": dir}, func(h *sdktest.Harness) {
		show(h.Call(context.Background(), "write", map[string]any{"path": "a.txt", "text": "milk"}))
		show(h.Call(context.Background(), "write", map[string]any{"path": "../a.txt", "text": "milk"}))
		show(h.Call(context.Background(), "write", map[string]any{"path": "b/a.txt", "text": "milk"}))
	})
	text, _ := os.ReadFile(filepath.Join(dir, "a.txt"))
	fmt.Println("the note:", string(text))
	// Output:
	// result: {"bytes":4,"path":"a.txt"}
	// permission_denied: write ../a.txt: it is outside the allowed roots; name something inside DIR
	// not_found: write b/a.txt: file does not exist
	// the note: milk
}

func ExampleOperation_Preview() {
	dir, _ := os.MkdirTemp("", "notes")
	defer os.RemoveAll(dir)
	_ = os.WriteFile(filepath.Join(dir, "a.txt"), []byte("milk\n"), 0o600)

	p := sdk.New[notes]("notes", "Keeps notes.")
	sdk.Tool(p, "write", "Write a note.", writeNote).Mutates(sdk.Low).
		Preview(func(c *sdk.Call[notes], in noteIn) (sdk.Plan, error) {
			before, err := c.Config.Root.ReadFile(in.Path)
			if err != nil {
				return sdk.Plan{}, err
			}
			return sdk.Changes(in.Path, string(before), in.Text), nil
		})

	try(p, map[string]any{"root": dir}, func(h *sdktest.Harness) {
		plan, _ := h.Preview(context.Background(), "write", map[string]any{"path": "a.txt", "text": "milk\ntea\n"})
		for _, line := range plan.GetRoot().GetGroup().GetChildren()[1].GetDiff().GetHunks()[0].GetLines() {
			fmt.Println(line.GetOp(), line.GetText())
		}
	})
	// Output:
	// DIFF_LINE_OP_CONTEXT milk
	// DIFF_LINE_OP_ADD tea
}

func ExampleOperation_Show() {
	p := sdk.New[struct{}]("hello", "Greets people.")
	sdk.Tool(p, "greet", "Greet somebody.", greet).ReadOnly().
		Show(func(out greetOut) render.Node { return render.Styled(render.Success, out.Greeting+"!") })

	try(p, nil, func(h *sdktest.Harness) {
		shown, _ := h.Render(context.Background(), map[string]any{"greeting": "Hello, Ada"})
		fmt.Println(shown.GetRoot().GetText().GetStyle(), shown.GetRoot().GetText().GetContent())
	})
	// Output: TEXT_STYLE_SUCCESS Hello, Ada!
}

func ExampleCall_Stdout() {
	p := sdk.New[struct{}]("hello", "Greets people.")
	sdk.Tool(p, "greet", "Greet somebody.", func(_ context.Context, c *sdk.Call[struct{}], in greetIn) (greetOut, error) {
		c.Status("thinking of %s", in.Name)
		w := bufio.NewWriter(c.Stdout()) // it is an io.Writer
		fmt.Fprintf(w, "Hello, %s\n", in.Name)
		return greetOut{}, w.Flush()
	}).ReadOnly().Streaming()

	try(p, nil, func(h *sdktest.Harness) {
		r := h.Call(context.Background(), "greet", map[string]any{"name": "Ada"})
		fmt.Println(r.Messages())
		fmt.Print(r.Stdout)
	})
	// Output:
	// [thinking of Ada]
	// Hello, Ada
}

func ExampleCall_Report() {
	p := sdk.New[struct{}]("mover", "Moves files.")
	sdk.Tool(p, "move", "Move many files.", func(ctx context.Context, c *sdk.Call[struct{}], _ struct{}) (struct{}, error) {
		for moved := range 3 {
			if moved == 2 {
				c.Status("the third file is large")
				<-ctx.Done()
			}
			if ctx.Err() != nil {
				c.Report("%d files are moved; the others are where they were", moved)
				return struct{}{}, ctx.Err()
			}
		}
		return struct{}{}, nil
	})

	try(p, nil, func(h *sdktest.Harness) {
		ctx, cancel := context.WithCancel(context.Background())
		r := h.Watch(ctx, h.Dir, "move", nil, func(*toolv1.ToolEvent) { cancel() })
		fmt.Println(r.Report.GetMessage())
	})
	// Output: 2 files are moved; the others are where they were
}

func ExampleCall_Emit() {
	p := sdk.New[struct{}]("hello", "Greets people.")
	sdk.Tool(p, "greet", "Greet somebody.", func(_ context.Context, c *sdk.Call[struct{}], in greetIn) (greetOut, error) {
		receipt, err := c.Emit(sdk.Event{Kind: kernelv1.EventKind_EVENT_KIND_MESSAGE, Payload: []byte("met " + in.Name)})
		return greetOut{fmt.Sprintf("Hello, number %d", receipt.Sequence)}, err
	})

	try(p, nil, func(h *sdktest.Harness) {
		show(h.Call(context.Background(), "greet", map[string]any{"name": "Ada"}))
		fmt.Println(string(h.Emitted()[0].GetPayload()))
	})
	// Output:
	// result: {"greeting":"Hello, number 1"}
	// met Ada
}

func ExampleRawTool() {
	described := `{
		"name": "search", "description": "Search the archive.", "kind": "TOOL_KIND_DATA_SOURCE", "risk": "RISK_CLASS_READ_ONLY",
		"inputSchema": {"type": "SCHEMA_TYPE_OBJECT", "required": ["query"], "properties": {"query": {"type": "SCHEMA_TYPE_STRING"}}}
	}`
	schema := &toolv1.ToolSchema{}
	if err := protojson.Unmarshal([]byte(described), schema); err != nil {
		fmt.Println(err)
	}
	p := sdk.New[struct{}]("archive", "Searches an archive.")
	op, err := sdk.RawTool(p, schema, func(_ context.Context, _ *sdk.Call[struct{}], in *structpb.Struct) (*structpb.Struct, error) {
		return structpb.NewStruct(map[string]any{"found": []any{in.GetFields()["query"].GetStringValue()}})
	})
	if err != nil {
		fmt.Println(err)
	}
	op.Timeout(time.Minute)

	try(p, nil, func(h *sdktest.Harness) {
		show(h.Call(context.Background(), "search", map[string]any{"query": "whales"}))
		show(h.Call(context.Background(), "search", map[string]any{"query": 1}))
	})
	// Output:
	// result: {"found":["whales"]}
	// invalid_arguments: argument query must be a string, not a number
}

func ExampleReader() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	lines := bufio.NewScanner(sdk.Reader(ctx, &endless{}))
	for lines.Scan() {
		cancel()
	}
	fmt.Println(lines.Err())
	// Output: context canceled
}

type endless struct{}

func (*endless) Read(p []byte) (int, error) { return copy(p, "again\n"), nil }

func show(r *sdktest.Result) {
	if r.Err != nil {
		fmt.Printf("%s: %s\n", sdk.Category(r.Err.GetCategory()), shortened(r.Err.GetMessage()))
		return
	}
	text, _ := json.Marshal(r.Result)
	fmt.Println("result:", string(text))
}

// shortened leaves out the temporary folder, whose name is never the same.
func shortened(message string) string {
	if at := strings.Index(message, " "+os.TempDir()); at >= 0 {
		return message[:at] + " DIR"
	}
	return message
}

package bare

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Answers gives the result of a call of a tool as JSON in one line, or the list of tools, of an empty one. The bytes are not
// changed, and may be given again.
type Answers func(tool, path string) ([]byte, error)

// Contents are files as text, each read once.
func Contents() Answers {
	return once(func(tool, path string) ([]byte, error) {
		if tool == "" {
			return []byte(`{"tools":[{"name":"read","inputSchema":{"type":"object"}}]}`), nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		return json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": string(b)}}})
	}, func(_, path string) string { return path })
}

// List is what Recorded calls the list of tools.
const List = "tools"

// Recorded are the files TOOL.json of a folder, as they are, each read once.
func Recorded(dir string) Answers {
	return once(func(tool, _ string) ([]byte, error) {
		return os.ReadFile(filepath.Join(dir, filepath.Base(cmp.Or(tool, List))+".json"))
	}, func(tool, _ string) string { return tool })
}

// once keeps answers in memory, by what tells them apart.
func once(answer Answers, key func(tool, path string) string) Answers {
	made := map[string][]byte{}
	return func(tool, path string) (b []byte, err error) {
		k := key(tool, path)
		if made[k] == nil {
			if made[k], err = answer(tool, path); err != nil {
				return nil, err
			}
		}
		return made[k], nil
	}
}

// request is what ServeMemory knows of a message.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProtocolVersion string `json:"protocolVersion"`
		Name            string `json:"name"`
		Arguments       struct {
			Path string `json:"path"`
		} `json:"arguments"`
	} `json:"params"`
}

// ServeMemory answers until the input ends, without an SDK.
func ServeMemory(in io.Reader, out io.Writer, answers Answers) error {
	lines, w := bufio.NewReader(in), bufio.NewWriterSize(out, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		if r.ID == nil { // a notification
			continue
		}
		result, err := r.result(answers)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":`, r.ID)
		_, _ = w.Write(result)
		_, _ = w.WriteString("}\n")
		if err := w.Flush(); err != nil {
			return err
		}
	}
}

func (r *request) result(answers Answers) ([]byte, error) {
	switch r.Method {
	case "tools/list":
		return answers("", "")
	case "tools/call":
		return answers(r.Params.Name, r.Params.Arguments.Path)
	}
	// The handshake; of a ping the answer does not matter.
	return json.Marshal(map[string]any{"protocolVersion": r.Params.ProtocolVersion, "capabilities": map[string]any{"tools": map[string]any{}},
		"serverInfo": map[string]any{"name": "floor", "version": "1"}})
}

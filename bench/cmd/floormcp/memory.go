package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// request is what serveMemory knows of a message.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProtocolVersion string    `json:"protocolVersion"`
		Arguments       arguments `json:"arguments"`
	} `json:"params"`
}

// serveMemory answers until the input ends. What it answers to a read is made once for each file.
func serveMemory(in io.Reader, out io.Writer) error {
	made := map[string][]byte{}
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
		result, err := r.result(made)
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

func (r *request) result(made map[string][]byte) (result []byte, err error) {
	switch r.Method {
	case "tools/list":
		return []byte(`{"tools":[{"name":"read","inputSchema":{"type":"object"}}]}`), nil
	case "tools/call":
		path := r.Params.Arguments.Path
		if made[path] == nil {
			b, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			if made[path], err = json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": string(b)}}}); err != nil {
				return nil, err
			}
		}
		return made[path], nil
	}
	// The handshake; of a ping the answer does not matter.
	return json.Marshal(map[string]any{"protocolVersion": r.Params.ProtocolVersion, "capabilities": map[string]any{"tools": map[string]any{}},
		"serverInfo": map[string]any{"name": "floor", "version": "1"}})
}

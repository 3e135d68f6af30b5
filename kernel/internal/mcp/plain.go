package mcp

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// methodCall is the request that calls a tool.
const methodCall = "tools/call"

// plainRequest is what a call of a tool holds.
type plainRequest struct {
	name      string
	arguments json.RawMessage
	token     any // for progress
	says      introduction
}

// introduction is what a client says of itself with a call, as JSON: nothing before protocol version 2026-07-28.
type introduction struct{ version, client, capabilities string }

// longestPlain bounds what is read here: the SDK is faster with long messages.
const longestPlain = 64 << 10

// plainCall reads a call of a tool that has nothing about it that is not in nearly all of them. It is nil for any other
// message, which the SDK then reads in its own way.
func plainCall(line []byte) *jsonrpc.Request {
	if len(line) > longestPlain {
		return nil
	}
	message := members(line, "jsonrpc", "id", "method", "params")
	if string(message["jsonrpc"]) != `"2.0"` || string(message["method"]) != `"`+methodCall+`"` {
		return nil
	}
	id, ok := plainlyID(message["id"])
	if !ok {
		return nil
	}
	params := members(message["params"], "name", "arguments", "_meta")
	call := &plainRequest{arguments: params["arguments"]}
	if json.Unmarshal(params["name"], &call.name) != nil || !call.readMeta(params["_meta"]) {
		return nil
	}
	return &jsonrpc.Request{ID: id, Method: methodCall, Params: message["params"], Extra: call}
}

// members are those of an object that has no others than these; nil of anything else.
func members(object []byte, names ...string) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(object, &all) != nil {
		return nil
	}
	known := 0
	for _, name := range names {
		if _, there := all[name]; there {
			known++
		}
	}
	if known < len(all) {
		return nil
	}
	return all
}

func plainlyID(text json.RawMessage) (id jsonrpc.ID, ok bool) {
	var value any
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil && -mostExact < n && n < mostExact {
		value = float64(n)
	} else if len(text) == 0 || text[0] != '"' || json.Unmarshal(text, &value) != nil {
		return id, false
	}
	id, err := jsonrpc.MakeID(value)
	return id, err == nil
}

// readMeta takes what stands beside the arguments, unless that holds something of the protocol's own that is unusual.
func (c *plainRequest) readMeta(text json.RawMessage) (plain bool) {
	if len(text) == 0 {
		return true
	}
	var meta map[string]json.RawMessage
	if json.Unmarshal(text, &meta) != nil {
		return false
	}
	for name, value := range meta {
		switch name {
		case sdk.MetaKeyProtocolVersion:
			c.says.version = string(value)
		case sdk.MetaKeyClientInfo:
			c.says.client = string(value)
		case sdk.MetaKeyClientCapabilities:
			c.says.capabilities = string(value)
		case "progressToken":
			if json.Unmarshal(value, &c.token) != nil {
				return false
			}
		default:
			if strings.HasPrefix(name, "io.modelcontextprotocol/") {
				return false
			}
		}
	}
	return true
}

// caller is a client that the SDK has let make a call.
type caller struct {
	says introduction
	// request is what its requests begin with.
	request request
}

// introduced is the caller that says this of itself. It is nil when it can be asked something between two requests, for
// which the SDK has to know of them.
func (s *Server) introduced(ss *sdk.ServerSession, says introduction) *caller {
	if says == (introduction{}) {
		p := ss.InitializeParams()
		if p == nil || p.ProtocolVersion >= multiRound {
			return nil
		}
		return &caller{says, s.request(ss, p.Capabilities, p.ClientInfo, p.ProtocolVersion)}
	}
	var who sdk.Implementation
	var can map[string]json.RawMessage
	if says.version != `"`+multiRound+`"` || json.Unmarshal([]byte(says.client), &who) != nil || json.Unmarshal([]byte(says.capabilities), &can) != nil {
		return nil
	}
	if can["elicitation"] != nil || can["roots"] != nil {
		return nil
	}
	return &caller{says, s.request(ss, nil, &who, multiRound)}
}

package mcp

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// mostExact is the first whole number that another is rounded to.
const mostExact = 1 << 53

// inexactID is what is wrong with a message whose id could not be given back.
const inexactID = "the id of a request has to be a text, or a whole number below 2^53"

// exactID reports whether the id of a message, if it has one, can be given back as it came: the SDK rounds numbers and
// takes null for none, and would answer a request that nobody has made. Only what is not written the plain way is read
// again, as a message can be large.
func exactID(message []byte) bool {
	if plainFirst(message) || plainLast(message) {
		return true
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(message, &m) != nil {
		return true // no message, which is said elsewhere
	}
	id, there := m["id"]
	return !there || id[0] == '"' || wholeID(id)
}

// plainFirst reports whether a message begins with its id, as many clients write it, and nothing in it can be another.
func plainFirst(message []byte) bool {
	value, found := bytes.CutPrefix(message, []byte(`{"jsonrpc":"2.0","id":`))
	if !found || bytes.Contains(value, []byte(`"id"`)) || bytes.Contains(value, []byte(`\u006`)) {
		return false
	}
	if len(value) > 0 && value[0] == '"' {
		return true
	}
	end := bytes.IndexAny(value[:min(len(value), 20)], ",}")
	return end > 0 && wholeID(value[:end])
}

// plainLast reports whether a message ends with its id, as the other clients write it. Of several, the last one counts.
func plainLast(message []byte) bool {
	message, closed := bytes.CutSuffix(message, []byte("}"))
	const name = `,"id":`
	at := bytes.LastIndex(message[max(0, len(message)-len(name)-20):], []byte(name))
	if !closed || at < 0 {
		return false
	}
	return wholeID(message[max(0, len(message)-len(name)-20)+at+len(name):])
}

func wholeID(text []byte) bool {
	n, err := strconv.ParseInt(string(text), 10, 64)
	return err == nil && -mostExact < n && n < mostExact
}

// alone reports whether nothing comes behind the object that a message is: the SDK would take it for nothing, be it another
// message.
func alone(message []byte) bool {
	depth := 0
	for i := 0; i < len(message); i++ {
		switch message[i] {
		case '"':
			for i++; i < len(message) && message[i] != '"'; i++ {
				if message[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return len(bytes.TrimSpace(message[i+1:])) == 0
			}
		}
	}
	return true // it has no end, which is said elsewhere
}

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
	if _, value, found := bytes.Cut(message, []byte(`"id":`)); found && plainID(value) {
		return true
	}
	var m struct{ ID json.RawMessage }
	if json.Unmarshal(message, &m) != nil {
		return true // no message, which is said elsewhere
	}
	return len(m.ID) == 0 || m.ID[0] == '"' || wholeID(m.ID)
}

// plainID reports whether a text begins with an id as nearly all clients write them.
func plainID(text []byte) bool {
	if len(text) > 0 && text[0] == '"' {
		return true
	}
	end := bytes.IndexAny(text[:min(len(text), 20)], ",}")
	return end > 0 && wholeID(text[:end])
}

func wholeID(text []byte) bool {
	n, err := strconv.ParseInt(string(text), 10, 64)
	return err == nil && -mostExact < n && n < mostExact
}

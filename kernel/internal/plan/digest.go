package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/proto"

	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
)

// Digest is the sha256 of some text, as "sha256:" and lower-case hex.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// canonical is JSON that is the same for the same value in every build: protojson spaces its output as it likes, and the
// members of an object have no order.
func canonical(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("cannot be written as JSON: %w", err)
	}
	var plain any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&plain); err != nil {
		return nil, fmt.Errorf("cannot be read as JSON: %w", err)
	}
	return compact(plain)
}

// compact is json.Marshal that leaves text readable.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// shownOf is what of an item somebody gets to see and approves; the rest is names for it.
func shownOf(item *planv1.PlanItem) *planv1.PlanItem {
	shown := proto.CloneOf(item)
	shown.Id, shown.CallId = "", ""
	return shown
}

package schedule

import (
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
)

// ClaimOf is what a call needs, as the operation declares it. A call that lacks an argument it should be told apart by
// is taken for one that equals all others which lack it.
func ClaimOf(provider, operation string, kind toolv1.ToolKind, c *toolv1.ConcurrencySpec, args *structpb.Struct) Claim {
	claim := Claim{
		Provider: provider, Operation: operation,
		Exclusive:   !c.GetSafe(),
		Interactive: kind == toolv1.ToolKind_TOOL_KIND_INTERACTIVE,
	}
	for _, field := range c.GetKeyFields() {
		claim.Keys = append(claim.Keys, canonical(args.GetFields()[field]))
	}
	return claim
}

// canonical is a text that equal values share. A number and the string of its digits have different ones.
func canonical(v *structpb.Value) string {
	if v == nil {
		return ""
	}
	if s, ok := v.GetKind().(*structpb.Value_StringValue); ok {
		return `"` + s.StringValue
	}
	// protojson spaces its output differently from build to build, but not within one, and sorts the keys of maps.
	return protojson.Format(v)
}

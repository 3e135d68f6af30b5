package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// Pretty shows arguments, or a payload, when the provider has nothing better to show.
func Pretty(s *structpb.Struct) *renderv1.RenderTree {
	language := "json"
	return &renderv1.RenderTree{Root: &renderv1.RenderNode{Node: &renderv1.RenderNode_CodeBlock{
		CodeBlock: &renderv1.CodeBlockNode{Language: &language, Content: indented(s)}}}}
}

// withoutPreview shows the arguments and why there is nothing better.
func withoutPreview(c Call, why error) *renderv1.RenderTree {
	note := &renderv1.RenderNode{Node: &renderv1.RenderNode_Text{Text: &renderv1.TextNode{Content: fmt.Sprintf("no preview: %v", why)}}}
	return &renderv1.RenderTree{Root: &renderv1.RenderNode{Node: &renderv1.RenderNode_Group{
		Group: &renderv1.GroupNode{Children: []*renderv1.RenderNode{note, Pretty(c.Arguments).GetRoot()}}}}}
}

// withDeadline adds to a preview what its provider cannot know.
func withDeadline(tree *renderv1.RenderTree, limit time.Duration) *renderv1.RenderTree {
	note := &renderv1.RenderNode{Node: &renderv1.RenderNode_Text{Text: &renderv1.TextNode{Content: fmt.Sprintf("for at most %s, the deadline of the call", limit)}}}
	return &renderv1.RenderTree{Root: &renderv1.RenderNode{Node: &renderv1.RenderNode_Group{
		Group: &renderv1.GroupNode{Children: []*renderv1.RenderNode{tree.GetRoot(), note}}}}}
}

func indented(s *structpb.Struct) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(s.AsMap()); err != nil {
		// Infinity and its like have no place in JSON, but must be seen all the same.
		return s.String()
	}
	return strings.TrimSuffix(out.String(), "\n")
}

package hosttest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// leak gives the secret of its configuration away, in every way there is.
func leak(c call) error {
	c.mu.Lock()
	token := c.configured.GetFields()["token"].GetStringValue()
	c.mu.Unlock()
	forms := fmt.Sprintf("%s %q %s %s", token, token, url.QueryEscape(token), base64.StdEncoding.EncodeToString([]byte("me:"+token)))
	fmt.Fprintln(stderr, "printed: "+forms)
	fmt.Fprintln(os.Stdout, "printed: "+forms)
	half := len(token) / 2
	err := errors.Join(
		c.progress("with "+forms),
		c.chunk(toolv1.OutputStream_OUTPUT_STREAM_STDOUT, "begin "+token[:half]),
		c.chunk(toolv1.OutputStream_OUTPUT_STREAM_STDOUT, token[half:]+" end "+forms+"\n"),
	)
	if err != nil {
		return err
	}
	payload, err := structpb.NewStruct(map[string]any{"forms": forms, token: []any{token}})
	if err != nil {
		return err
	}
	switch c.text("how") {
	case "result":
		return c.send(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_Result{Result: &toolv1.ToolResult{Payload: payload}}})
	case "error":
		return c.send(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_Error{Error: &toolv1.ToolError{
			Category: toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED, Message: "no entry with " + forms, Details: payload}}})
	case "panic":
		go panic("with " + forms)
		select {}
	}
	<-c.ctx.Done()
	c.report(c.GetId(), "stopped with "+forms, payload.AsMap(), "rest "+forms)
	return c.ctx.Err()
}

package host

import (
	"strings"
	"time"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// crashPatience is how long the end of a process is waited for after its connection broke.
const crashPatience = 150 * time.Millisecond

// death says how the process ended that a call was lost with. One that lives on without its connection is of no use.
func (l *life) death(call Call, cause error) Reply {
	timer := time.NewTimer(crashPatience)
	defer timer.Stop()
	facts := map[string]string{"cause": cause.Error()}
	var reply Reply
	select {
	case <-l.process.ended:
		l.hearOut()
		facts["ending"] = l.process.ending()
		reply = crashed("%s: the provider ended during the call (%s)%s; the next call starts it again",
			call.Operation, l.process.ending(), lastWords(l.process.errors.lines()))
	case <-timer.C:
		if l.leaving.Load() {
			reply = crashed("%s: the provider was shut down during the call", call.Operation)
			break
		}
		l.process.kill()
		reply = crashed("%s: the provider closed its connection during the call and was ended; the next call starts it again", call.Operation)
	}
	reply.Error.Details = details(facts, l.process.errors.lines())
	return reply
}

// hearOut lets the last words of a process arrive, for as long as they may take.
func (l *life) hearOut() {
	timer := time.NewTimer(outputGrace)
	defer timer.Stop()
	select {
	case <-l.process.exited:
	case <-timer.C:
	}
}

func crashed(format string, args ...any) Reply {
	return Reply{Ending: Crashed, Error: Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PROCESS_CRASHED, format, args...)}
}

func details(facts map[string]string, stderr []string) *structpb.Struct {
	s := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for name, value := range facts {
		s.Fields[name] = structpb.NewStringValue(strings.ToValidUTF8(value, "�"))
	}
	if len(stderr) > 0 {
		s.Fields["stderr"] = structpb.NewStringValue(strings.Join(stderr, "\n"))
	}
	return s
}

// lastWords is the line that most likely says why a process died: the head of a panic, else the last one.
func lastWords(stderr []string) string {
	for _, line := range stderr {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return ": " + line
		}
	}
	if len(stderr) == 0 {
		return ""
	}
	return ": " + stderr[len(stderr)-1]
}

package host

import (
	"strings"
	"time"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

const (
	// crashPatience is how long a process may take to end after its connection did.
	crashPatience = 2 * time.Second
	// endPatience is how long the end of a process is waited for that is being killed. It takes milliseconds, unless it hangs
	// in the kernel of the system.
	endPatience = 5 * time.Second
)

// death says how the process ended that a call was lost with.
func (l *life) death(call Call, cause error) Reply {
	facts := map[string]string{"cause": cause.Error()}
	var reply Reply
	switch ended := l.process.awaitEnd(endPatience); {
	case l.dismissed.Load():
		reply = crashed(0, "%s: the provider was shut down during the call", call.Operation)
	case l.cutOff.Load() != nil:
		reply = crashed(l.crash, "%s: the provider %s during the call and was ended; the next call starts it again", call.Operation, *l.cutOff.Load())
	case ended:
		l.hearOut()
		facts["ending"] = l.process.ending()
		reply = crashed(l.crash, "%s: the provider ended during the call (%s)%s; the next call starts it again",
			call.Operation, l.process.ending(), lastWords(l.process.errors.lines()))
	default:
		reply = crashed(l.crash, "%s: the provider closed its connection during the call and was ended; the next call starts it again", call.Operation)
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

func crashed(crash int64, format string, args ...any) Reply {
	return Reply{Ending: Crashed, Crash: crash, Error: Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PROCESS_CRASHED, format, args...)}
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

// isDeath reports a line with which the Go runtime says why it ends the process.
func isDeath(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
}

// lastWords is the line that most likely says why a process died: the head of a panic, else the last one.
func lastWords(stderr []string) string {
	for _, line := range stderr {
		if isDeath(line) {
			return ": " + line
		}
	}
	if len(stderr) == 0 {
		return ""
	}
	return ": " + stderr[len(stderr)-1]
}

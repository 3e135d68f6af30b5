package mcp

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/agentco/agent/kernel/internal/paint"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// heartbeat is how long a client hears nothing of a running call. Clients give up after as little as a minute, and
	// some of those that wait longer want a sign every ten seconds.
	heartbeat = 5 * time.Second
	// pace is the least time between two notifications: a command that prints a hundred megabytes must not drown the
	// client. The first one goes out at once.
	pace = 100 * time.Millisecond
	// mostOutput is how much of what was printed one notification holds: its end, as the whole comes with the result.
	mostOutput = 2 << 10
)

// progress tells a client how far a call has come, for as long as the call runs. Its methods may be called from many
// goroutines; on nil they do nothing, which is the progress of a call that nobody wants to hear of.
type progress struct {
	send  func(*sdk.ProgressNotificationParams)
	token any
	began time.Time

	mu      sync.Mutex
	timer   *time.Timer // the next notification: what waits for its pace, else the heartbeat
	waiting bool        // something is to be told at the next notification
	over    bool
	last    time.Time // of the last notification

	doing    string // what the call is at, for the heartbeat
	printing bool   // something was printed, and told
	output   tail   // printed since the last notification
	painter  paint.Output
	count    float64 // the progress told last
	base     float64 // where counting ended and fractions began
	fraction float64 // from 0 to 1; negative while unknown
}

// watch begins to tell of a call. token is what the client gave; nil when it gave none.
func watch(token any, send func(*sdk.ProgressNotificationParams)) *progress {
	if !returnable(token) {
		return nil
	}
	p := &progress{send: send, token: token, began: time.Now(), fraction: -1, output: tail{most: mostOutput}}
	p.timer = time.AfterFunc(heartbeat, p.tick)
	return p
}

// returnable reports whether a token can be given back as it came: a text or a number, which JSON's reader has not rounded.
func returnable(token any) bool {
	switch token := token.(type) {
	case string, int, int32, int64:
		return true
	case float64:
		return math.Abs(token) < mostExact
	default:
		return false
	}
}

// stop ends it: nothing is sent any more once it has returned.
func (p *progress) stop() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.timer.Stop()
}

// note says what the call is at, such as waiting for an approval.
func (p *progress) note(doing string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing = doing
	p.wake()
}

// event tells of what a provider said. The end of a call is told by its result.
func (p *progress) event(e *toolv1.ToolEvent) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := e.GetEvent().(type) {
	case *toolv1.ToolEvent_Progress_:
		p.doing = paint.Line(e.Progress.GetMessage())
		if f := e.Progress.GetFractionComplete(); e.Progress.FractionComplete != nil && !math.IsNaN(f) {
			p.known(min(max(f, 0), 1))
		}
	case *toolv1.ToolEvent_OutputChunk_:
		p.output.write(e.OutputChunk)
		if !p.printing && p.output.size > 0 { // the first sign of life is worth more than the pace
			p.printing, p.last = true, time.Time{}
		}
	default:
		return
	}
	p.wake()
}

// known notes how much is done. From the first time on, a hundred more than what had been counted so far is the whole.
func (p *progress) known(fraction float64) {
	if p.fraction < 0 {
		p.base = p.count
	}
	p.fraction = fraction
}

// wake sends, at once or as soon as the pace allows.
func (p *progress) wake() {
	if p.over || p.waiting && !p.last.IsZero() {
		return
	}
	if since := time.Since(p.last); since < pace {
		p.waiting = true
		p.timer.Reset(pace - since)
		return
	}
	p.tell()
}

func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.tell()
	}
}

// tell sends one notification. What it counts always grows, as the protocol wants it: with nothing known, by one.
func (p *progress) tell() {
	n := &sdk.ProgressNotificationParams{ProgressToken: p.token, Message: p.message()}
	if p.fraction < 0 {
		p.count++
	} else {
		p.count = max(p.count+0.001, p.base+100*p.fraction)
		n.Total = p.base + 100
	}
	n.Progress = p.count
	p.waiting, p.last, p.output = false, time.Now(), tail{most: mostOutput}
	p.timer.Reset(heartbeat)
	p.send(n)
}

func (p *progress) message() string {
	output := p.output.paint(&p.painter)
	if extra := len(output) - mostOutput; extra > 0 {
		output = strings.ToValidUTF8(output[extra:], "")
	}
	switch {
	case output != "":
		return strings.TrimSuffix(output, "\n")
	case p.doing != "":
		return p.doing
	default:
		return fmt.Sprintf("running for %s", time.Since(p.began).Round(time.Second))
	}
}

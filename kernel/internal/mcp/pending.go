package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// pending is a request that has not been answered.
type pending struct {
	cancelled bool
	cancel    context.CancelCauseFunc // of one that the SDK does not know of, else nil
	says      *introduction           // of a call that the SDK has to judge, else nil
}

// owes reports whether a request waits for its answer.
func (t *stdio) owes() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pending) > 0
}

// admit notes requests, and refuses one too many and one that cannot be told from another. It notes cancellations: what was
// cancelled gets no answer.
func (t *stdio) admit(m jsonrpc.Message) bool {
	r, ok := m.(*jsonrpc.Request)
	if !ok {
		return true
	}
	if !r.IsCall() {
		t.noteCancelled(r)
		t.direct.note(r)
		return true
	}
	switch busy, known := t.note(r.ID); {
	case known:
		t.complain(jsonrpc.CodeInvalidRequest, fmt.Sprintf("request id %v is that of a request that waits for its answer", r.ID.Raw()))
		return false
	case busy != "":
		t.refuse(r.ID, &jsonrpc.Error{Code: codeBusy, Message: busy})
		return false
	}
	return true
}

// note puts a request on the list of those that are to be answered, or says why there is no room for it. What a client does
// not read counts, too, as its answers would be kept for it. Of one that reads there is never twice as much as it may ask.
func (t *stdio) note(id jsonrpc.ID) (busy string, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known = t.pending[id]; known {
		return "", true
	}
	if len(t.pending) >= t.most {
		return fmt.Sprintf("%d requests wait for an answer already, which is the most", t.most), false
	}
	if unread := t.out.unread.Load(); unread >= int64(2*t.most) {
		return fmt.Sprintf("%d messages wait to be read: read them first", unread), false
	}
	t.pending[id] = &pending{}
	return "", false
}

func (t *stdio) noteCancelled(r *jsonrpc.Request) {
	if r.Method != "notifications/cancelled" {
		return
	}
	var p sdk.CancelledParams
	if json.Unmarshal(r.Params, &p) != nil {
		return
	}
	id, err := jsonrpc.MakeID(p.RequestID)
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if q := t.pending[id]; q != nil && !q.cancelled {
		q.cancelled = true
		if q.cancel != nil {
			q.cancel(nil)
		}
		t.log.Info("the client cancelled a request", "id", fmt.Sprint(id.Raw()), "reason", p.Reason)
	}
}

// noteDirect has a request cancelled that the SDK does not know of, when its client wants that.
func (t *stdio) noteDirect(id jsonrpc.ID, cancel context.CancelCauseFunc) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending[id].cancel = cancel
}

// noteIntroduction keeps what a client says of itself with a request, for when the SDK has taken that.
func (t *stdio) noteIntroduction(id jsonrpc.ID, says introduction) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending[id].says = &says
}

// abandon cancels the requests that the SDK does not know of, as it does the others when nothing is read any more.
func (t *stdio) abandon(cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.pending {
		if p.cancel != nil {
			p.cancel(cause)
		}
	}
}

// settled takes an answer's request off the list, and reports whether nobody wants the answer any more.
func (t *stdio) settled(r *jsonrpc.Response) bool {
	t.mu.Lock()
	p := t.pending[r.ID]
	delete(t.pending, r.ID)
	t.mu.Unlock()
	select {
	case t.answered <- struct{}{}:
	default:
	}
	if p != nil && p.says != nil && r.Error == nil {
		t.direct.introduce(*p.says)
	}
	return p != nil && p.cancelled
}

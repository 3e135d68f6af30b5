package mcp

import (
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// places are how many calls may run at a time. Of several clients none gets more than half of them, so that one that makes
// as many calls as it can does not keep the others out.
type places struct {
	most int

	mu    sync.Mutex // guards what follows
	taken int
	of    map[*sdk.ServerSession]int
}

// take has a call of a client begin, or says why it cannot. leave has to be called after it.
func (p *places) take(ss *sdk.ServerSession) error {
	share := p.most
	if ss.ID() != "" { // there may be others
		share = max(1, p.most/2)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.taken >= p.most:
		return &jsonrpc.Error{Code: codeBusy, Message: fmt.Sprintf("%d calls run already, which is the most: try again when one has ended", p.most)}
	case p.of[ss] >= share:
		return &jsonrpc.Error{Code: codeBusy, Message: fmt.Sprintf("%d calls of this client run already, which is the most of one client: try again when one has ended", share)}
	}
	p.taken++
	p.of[ss]++
	return nil
}

func (p *places) leave(ss *sdk.ServerSession) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if p.of[ss]--; p.of[ss] == 0 {
		delete(p.of, ss)
	}
}

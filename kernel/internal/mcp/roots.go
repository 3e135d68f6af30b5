//nolint:staticcheck // roots are deprecated in the newest version, and there as long as clients have them
package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/agentco/agent/kernel/internal/policy"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// roots are the folders that a client has named. Its calls stay within them, and those of other clients are not concerned.
// A client that has never named one is not narrowed: many say that they have roots, and have none. One that has named some
// is from then on: that it takes them away does not give it everything.
type roots struct {
	log    *slog.Logger
	asking chan struct{} // holds something while the client is asked

	mu      sync.Mutex // guards what follows
	changes int        // how often the client has said that there are others
	known   int        // changes when it was last asked, and one more
	fence   *policy.Fence
	shown   []string // what was last told of in the log
}

func newRoots(log *slog.Logger) *roots { return &roots{log: log, asking: make(chan struct{}, 1)} }

// rootsChanged notes that a client has other roots than before: its next call has it asked.
func (s *Server) rootsChanged(_ context.Context, r *sdk.RootsListChangedRequest) {
	if c, _ := s.begun(r.Session); c != nil {
		c.roots.mu.Lock()
		defer c.roots.mu.Unlock()
		c.roots.changes++
	}
}

// within is where a call has to stay, which may have to be asked.
type within func(context.Context) *policy.Fence

// rootsOf is where the calls of a client have to stay, before protocol version 2026-07-28.
func (c *conversation) rootsOf(ctx context.Context, ss *sdk.ServerSession) *policy.Fence {
	ctx, cancel := context.WithTimeoutCause(ctx, c.patience, fmt.Errorf("the client did not name them within %s", c.patience))
	defer cancel()
	return c.roots.within(ctx, func(ctx context.Context) (*sdk.ListRootsResult, error) {
		return ss.ListRoots(ctx, nil)
	})
}

// hasRoots reports whether a client says that it has roots.
func hasRoots(can *sdk.ClientCapabilities) bool {
	return can != nil && can.RootsV2 != nil
}

// within is where a call has to stay; nil when that is anywhere. The client is asked if it was not yet, or has others now:
// by one call at a time, for as long as ctx lets it. Without an answer nothing is within, until the next call asks again.
func (r *roots) within(ctx context.Context, ask func(context.Context) (*sdk.ListRootsResult, error)) *policy.Fence {
	select {
	case r.asking <- struct{}{}:
		defer func() { <-r.asking }()
	case <-ctx.Done():
		return closed(context.Cause(ctx))
	}
	r.mu.Lock()
	changes := r.changes
	if r.known == changes+1 {
		defer r.mu.Unlock()
		return r.fence
	}
	r.mu.Unlock()
	list, err := ask(ctx)
	var refused *jsonrpc.Error
	switch {
	case errors.As(err, &refused) && refused.Code == jsonrpc.CodeMethodNotFound:
		r.log.Warn("the client says that it has roots, and does not know roots/list: it is taken for one without")
		list = &sdk.ListRootsResult{Roots: []*sdk.Root{}}
	case ctx.Err() != nil:
		return closed(context.Cause(ctx))
	case err != nil:
		return closed(fmt.Errorf("the client was asked for them, and failed: %w", err))
	}
	fence := r.named(list)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = changes + 1
	return fence
}

// rootsKey is the key of the question for roots in the answer to a request.
const rootsKey = "roots"

func questionForRoots() sdk.InputRequestMap {
	return sdk.InputRequestMap{rootsKey: &sdk.ListRootsParams{}}
}

// answered is where a call has to stay, by what its request brings along: from protocol version 2026-07-28 on a client
// does not tell of changes, so that every call asks. ask says that the request brings nothing yet.
func (r *roots) answered(answers sdk.InputResponseMap) (within *policy.Fence, ask bool) {
	if answers == nil {
		return nil, true
	}
	list, _ := answers[rootsKey].(*sdk.ListRootsResult)
	return r.named(list), false
}

// mostRoots is how many roots of a client count, and mostTold how many that do not are told of.
const (
	mostRoots = 1000
	mostTold  = 5
)

// named takes what a client answered.
func (r *roots) named(list *sdk.ListRootsResult) *policy.Fence {
	if list == nil || list.Roots == nil {
		return closed(errors.New("the client answered the question for them without a list"))
	}
	uris, folders, ignored := read(list.Roots[:min(len(list.Roots), mostRoots)])
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tell(uris, folders, ignored)
	switch {
	case len(folders) > 0:
		r.fence = fenceOf(folders, "")
	case len(uris) > 0:
		r.fence = fenceOf(nil, "it names none that is a folder of this machine: "+strings.Join(ignored, "; "))
	case r.fence != nil:
		r.fence = fenceOf(nil, "it names none any more")
	}
	return r.fence
}

// read are the URIs of roots, the folders that they name, and some of those that name none, with why.
func read(named []*sdk.Root) (uris, folders, ignored []string) {
	for _, root := range named {
		if root == nil {
			root = &sdk.Root{}
		}
		uris = append(uris, root.URI)
		folder, err := folderOf(root.URI)
		if err == nil {
			folders = append(folders, folder)
		} else if len(ignored) < mostTold {
			ignored = append(ignored, fmt.Sprintf("%.200s: %v", paint.Line(root.URI), err))
		}
	}
	return uris, folders, ignored
}

// tell notes what a client named, when it is not what it named before.
func (r *roots) tell(uris, folders, ignored []string) {
	if slices.Equal(uris, r.shown) {
		return
	}
	r.shown = uris
	r.log.Info("the client named its roots", "folders", folders)
	for _, why := range ignored {
		r.log.Warn("a root of the client is ignored", "root", why)
	}
}

// fenceName is what is said to decide about calls that leave the roots.
const fenceName = "the roots of the client"

func fenceOf(folders []string, why string) *policy.Fence {
	return &policy.Fence{Name: fenceName, Folders: folders, Closed: why, Remedy: "add the folder to the roots of your client"}
}

func closed(why error) *policy.Fence {
	return &policy.Fence{Name: fenceName, Closed: why.Error(), Remedy: "call again, or connect without the capability roots"}
}

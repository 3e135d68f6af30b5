package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/mcp"
	"github.com/agentco/agent/proto/lean"
)

// mcpFlags are those of agent mcp.
type mcpFlags struct {
	approve  []string
	yes      bool
	patience time.Duration

	http      string
	tokenEnv  string
	cert, key string
	origins   []string
}

const defaultPatience = 5 * time.Minute

func (a *app) mcpCommand() *cobra.Command {
	var flags mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools to coding assistants",
		Long: `Serve the tools of the project to a coding assistant, over the Model Context Protocol.

Without --http one client is served on stdin and stdout, which then carry the protocol and nothing else; the
server ends when its client closes stdin. Tools are named PROVIDER_TOOL; slash commands are prompts.

What the policy does not decide is asked of the person behind the client. A client that cannot ask is denied,
unless --approve names the tool. A policy's deny always stands.

With --http any number of clients share the providers, at http://HOST:PORT/mcp. A server that others than this
machine can reach needs a token. Ctrl-C or SIGTERM ends it; the exit code is 0 then.`,
		Example: `  agent mcp
  agent mcp --approve 'filesystem.*' --approve /release
  agent mcp --http 127.0.0.1:8321
  agent mcp --http 0.0.0.0:8321 --token-env AGENT_MCP_TOKEN --tls-cert cert.pem --tls-key key.pem`,
		Args: noMoreThan(0),
		RunE: func(*cobra.Command, []string) error { return a.mcp(flags) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&flags.approve, "approve", nil, "approve calls of the operations that match `PATTERN`, such as 'filesystem.*' or /release, without asking; may be repeated")
	f.BoolVarP(&flags.yes, "yes", "y", false, "approve everything without asking; a policy's deny still stands")
	f.DurationVar(&flags.patience, "ask-timeout", defaultPatience, "deny a call when nobody has answered for this long")
	f.StringVar(&flags.http, "http", "", "serve over HTTP at `HOST:PORT` instead of stdin and stdout")
	f.StringVar(&flags.tokenEnv, "token-env", "", "with --http: the `variable` that holds the token clients have to bring")
	f.StringVar(&flags.cert, "tls-cert", "", "with --http: the `file` of the certificate, for HTTPS")
	f.StringVar(&flags.key, "tls-key", "", "with --http: the `file` of its key")
	f.StringArrayVar(&flags.origins, "allow-origin", nil, "with --http: an `origin` of web pages that may use the server, such as https://example.com; may be repeated")
	cmd.AddCommand(a.mcpInstallCommand())
	return cmd
}

func (f *mcpFlags) check() error {
	if f.patience <= 0 {
		return usagef("--ask-timeout %s: a person needs some time to answer", f.patience)
	}
	for _, pattern := range f.approve {
		if _, err := path.Match(pattern, ""); err != nil || !strings.ContainsAny(pattern, "./") {
			return usagef("--approve %q: write PROVIDER.TOOL, with * for any, such as 'filesystem.*', or /COMMAND", pattern)
		}
	}
	if f.http != "" {
		return nil
	}
	for name, given := range map[string]bool{"--token-env": f.tokenEnv != "", "--tls-cert": f.cert != "", "--tls-key": f.key != "", "--allow-origin": len(f.origins) > 0} {
		if given {
			return usagef("%s means nothing without --http HOST:PORT", name)
		}
	}
	return nil
}

// mcp serves clients until there is nobody left to serve.
func (a *app) mcp(flags mcpFlags) error {
	lean.Bound(softMemory)
	in, out, err := a.lendStdio()
	if err != nil {
		return err
	}
	if err := flags.check(); err != nil {
		return err
	}
	options, l, err := flags.listen()
	if err != nil {
		return err
	}
	if l != nil {
		defer func() { _ = l.Close() }()
	}
	p, err := a.open()
	if err != nil {
		return err
	}
	e, err := a.prepare(p)
	if e == nil {
		return err
	}
	defer e.Close()
	if err := a.serveDespite(p, e, err); err != nil {
		return err
	}
	live := follow(p)
	server, err := a.mcpServer(live, e, flags)
	if err != nil {
		return err
	}
	defer server.Close()
	defer a.kill.bring(&foreground{cancel: a.cancel, note: "ending the server; press Ctrl-C again to kill"})()
	defer a.startBehind(p, e, server)()
	defer a.watchBehind(live, server)()
	if l != nil {
		return a.serveHTTP(server, l, options)
	}
	return server.ServeStdio(a.ctx, in, out, e.Kill)
}

// serveDespite says what is wrong, and whether it is reason not to serve: a client is better off with the providers that
// started than with none, but not with a policy that does not say what it was meant to.
func (a *app) serveDespite(p *project, e *engine.Engine, failed error) error {
	if err := p.unmatched(e); err != nil {
		return err
	}
	for _, err := range flatten(failed) {
		a.showError(err)
	}
	if len(e.Operations()) == 0 && failed != nil {
		return errors.New("there is nothing to serve: no provider could be started")
	}
	return nil
}

// latestStart is when providers are started although no client has asked for the list.
const latestStart = time.Second

// softMemory is how many bytes the kernel may hold before it collects garbage at once: what clients want at a time is a
// megabyte or two, and they may let a server wait for days.
const softMemory = 28 << 20

// startBehind starts what was only prepared while clients are told already what is known of it, and tells them when it
// turns out to be something else. Afterwards memory is given back when there is nothing to do. stop ends all that.
func (a *app) startBehind(p *project, e *engine.Engine, server *mcp.Server) (stop func()) {
	ctx, cancel := context.WithCancel(a.ctx)
	var starting sync.WaitGroup
	starting.Go(func() {
		select { // the first answer comes first: the starts would compete with it
		case <-server.Told():
		case <-time.After(latestStart):
		case <-ctx.Done():
			return
		}
		err := p.explain(e.Start(ctx))
		if ctx.Err() != nil {
			return
		}
		for _, err := range flatten(err) {
			a.showError(err)
		}
		server.Refresh()
		lean.Keep(ctx)
	})
	return func() {
		cancel()
		starting.Wait()
	}
}

// watchBehind keeps to the profile while agent.hcl is edited, and tells clients when they have other tools by that.
func (a *app) watchBehind(live *liveProject, server *mcp.Server) (stop func()) {
	ctx, cancel := context.WithCancel(a.ctx)
	var watching sync.WaitGroup
	watching.Go(func() { a.watch(ctx, live, server.Refresh) })
	return func() {
		cancel()
		watching.Wait()
	}
}

func (a *app) mcpServer(live *liveProject, e *engine.Engine, flags mcpFlags) (*mcp.Server, error) {
	p := live.current.Load()
	for _, pattern := range flags.approve {
		if !slices.ContainsFunc(e.Operations(), func(op engine.Operation) bool { return p.sees(op) && matches(pattern, op) }) {
			a.warn(fmt.Sprintf("--approve %s matches no operation there is; 'agent tools' lists them", pattern))
		}
	}
	all := ""
	if flags.yes {
		all = "--yes"
	}
	return mcp.New(mcp.Options{
		Engine: e, Version: a.versionText(), Approve: flags.approve, ApproveAll: all, Patience: flags.patience, Log: p.log,
		Operations: func() []engine.Operation { return only(e.Operations(), live.sees) }, OutOfScope: live.refusal,
		Open: func(approver gate.Approver) (*engine.Session, func(error), error) {
			return a.sessionOf(e, p, live.scoped(engine.SessionOptions{Approver: approver}))
		},
	}), nil
}

func matches(pattern string, op engine.Operation) bool {
	ok, _ := path.Match(pattern, op.String())
	return ok
}

// lendStdio takes stdin and stdout away from everything but the protocol. What anybody else prints, the help of a wrong
// flag among it, goes to stderr, and nobody else can read what the client sends.
func (a *app) lendStdio() (in, out *os.File, err error) {
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	in, out = os.Stdin, os.Stdout
	os.Stdin, os.Stdout = nothing, os.Stderr
	a.flags.json = false
	a.display.LendOut()
	return in, out, nil
}

// httpOptions reads what the flags name.
func (f *mcpFlags) httpOptions() (o mcp.HTTPOptions, err error) {
	if err := checkOrigins(f.origins); err != nil {
		return o, err
	}
	o.Origins = f.origins
	if f.tokenEnv != "" {
		if o.Token = os.Getenv(f.tokenEnv); len(o.Token) < shortestToken {
			return o, usagef("--token-env %s: the variable has to hold a token of at least %d characters, such as that of 'openssl rand -hex 32'", f.tokenEnv, shortestToken)
		}
	}
	if f.cert == "" && f.key == "" {
		return o, nil
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return o, usagef("cannot read --tls-cert and --tls-key: %w", err)
	}
	o.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	return o, nil
}

// checkOrigins refuses what no browser sends as an origin, and so would allow nothing.
func checkOrigins(origins []string) error {
	for _, origin := range origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
			return usagef("--allow-origin %q: write SCHEME://HOST or SCHEME://HOST:PORT, such as https://example.com", origin)
		}
	}
	return nil
}

// shortestToken keeps out tokens that can be guessed.
const shortestToken = 16

// listen opens the address of --http, before anything is started for it; l is nil without one.
func (f *mcpFlags) listen() (o mcp.HTTPOptions, l net.Listener, err error) {
	if f.http == "" {
		return o, nil, nil
	}
	if o, err = f.httpOptions(); err != nil {
		return o, nil, err
	}
	if err := o.Check(f.http); err != nil {
		return o, nil, usagef("%w", err)
	}
	l, err = net.Listen("tcp", f.http)
	switch {
	case err == nil:
		return o, l, nil
	case errors.As(err, new(*net.AddrError)):
		return o, nil, usagef("cannot serve at %s: %w", f.http, err)
	case errors.Is(err, syscall.EADDRINUSE):
		return o, nil, fmt.Errorf("cannot serve at %s: %w; choose another port, or 0 for one that is free", f.http, err)
	default:
		return o, nil, fmt.Errorf("cannot serve at %s: %w", f.http, err)
	}
}

func (a *app) serveHTTP(server *mcp.Server, l net.Listener, o mcp.HTTPOptions) error {
	scheme := "http"
	if o.TLS != nil {
		scheme = "https"
	}
	a.display.Note(fmt.Sprintf("serving on %s://%s/mcp", scheme, l.Addr()))
	if o.Token != "" && o.TLS == nil && !strings.HasPrefix(l.Addr().String(), "127.") {
		a.warn("the token travels in clear: give --tls-cert and --tls-key, or put the server behind something that does TLS")
	}
	return server.ServeHTTP(a.ctx, l, o)
}

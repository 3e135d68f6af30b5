package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/types/known/structpb"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
	"github.com/agentco/agent/sdk/sdktest"
)

type vault struct {
	Token  string            `hcl:"token" sensitive:"true"`
	Keys   []string          `hcl:"keys,optional" sensitive:"true"`
	Logins map[string]string `hcl:"logins,optional" sensitive:"true"`
	Proxy  struct {
		Password string `hcl:"password" sensitive:"true"`
	} `hcl:"proxy,optional"`
	All struct {
		Inner string `hcl:"inner"`
	} `hcl:"all,optional" sensitive:"true"`
}

// secrets is a configuration, each value with "tell" in it.
var secrets = map[string]any{
	"token": `tell-"token"-1`, "keys": []any{"tell-key-number-1", "tell-key-number-12"},
	"logins": map[string]any{"ada": "tell-ada-7c1"}, "proxy": map[string]any{"password": "tell-proxy/ü"},
	"all": map[string]any{"inner": "tell-inner-0"},
}

func everySecret(c *vault) []string {
	return []string{c.Token, c.Keys[0], c.Keys[1], c.Logins["ada"], c.Proxy.Password, c.All.Inner}
}

type tellIn struct {
	How string `json:"how"`
}

// teller tells every secret in every way that a provider has.
func teller() *sdk.Provider[vault] {
	p := sdk.New[vault]("teller", "For tests.")
	sdk.Tool(p, "tell", "Tells.", func(ctx context.Context, c *sdk.Call[vault], in tellIn) (doOut, error) {
		said := strings.Join(everySecret(c.Config), " ")
		switch in.How {
		case "result":
			return doOut{said}, nil
		case "status":
			c.Status("at %s", said)
		case "output":
			fmt.Fprint(c.Stdout(), said)
			fmt.Fprint(c.Stderr(), strings.Repeat("x", 32<<10-4)+c.Config.Token) // cut by the edge of a chunk
		case "partial":
			return doOut{}, c.Partial(map[string]any{said: map[string]any{"list": []any{said, 1}}})
		case "partial message":
			return doOut{}, c.Partial(&structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewStringValue(said)}})
		case "exit":
			c.Exit(1, said)
		case "log":
			c.Log().Warn(said, "why", errors.New(said), said, 1)
		case "error":
			return doOut{}, fmt.Errorf("login with %s: %w", said, errors.New(said))
		case "details":
			return doOut{}, sdk.Failed("no").With("tried", []string{said}).With(said, map[string]any{"x": said})
		case "quoted error":
			return doOut{}, fmt.Errorf("login with %q", everySecret(c.Config))
		case "url error":
			return doOut{}, &url.Error{Op: "Get", URL: "https://x/?" + url.Values{"t": everySecret(c.Config)}.Encode(), Err: errors.New("no route")}
		case "panic":
			panic(said)
		case "cancel":
			c.Status("running")
			<-ctx.Done()
			fmt.Fprint(c.Stdout(), said)
			c.Report("had used %s", said)
			return doOut{}, ctx.Err()
		}
		return doOut{}, nil
	}).Streaming().Preview(func(c *sdk.Call[vault], in tellIn) (sdk.Plan, error) {
		said := strings.Join(everySecret(c.Config), " ")
		if in.How == "error" {
			return sdk.Plan{}, errors.New(said)
		}
		return sdk.Runs("login " + said).And(sdk.Shows(render.Table([]string{said}, []string{said}))), nil
	}).Show(func(out doOut) render.Node { return render.Text(out.Did) })
	return p
}

func TestSecretsDoNotLeaveByTheSDK(t *testing.T) {
	for _, how := range []string{
		"result", "status", "output", "partial", "partial message", "exit", "log", "error", "details", "quoted error", "url error", "panic", "cancel",
	} {
		t.Run(how, func(t *testing.T) {
			h := sdktest.Start(t, teller(), secrets)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := h.Watch(ctx, h.Dir, "tell", map[string]any{"how": how}, func(*toolv1.ToolEvent) {
				if how == "cancel" {
					cancel()
				}
			})
			var all strings.Builder
			fmt.Fprint(&all, r.Status, r.Stdout, r.Stderr, prototext.Format(r.Report))
			for _, e := range r.Events {
				all.WriteString(prototext.Format(e))
			}
			for _, entry := range h.Logs() {
				all.WriteString(prototext.Format(entry))
			}
			require.Contains(t, all.String(), "********")
			require.NotContains(t, all.String(), "tell-")
		})
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	h := sdktest.Start(t, teller(), secrets)
	tree, err := h.Preview(t.Context(), "tell", map[string]any{"how": "plan"})
	require.NoError(t, err)
	require.NotContains(t, prototext.Format(tree), "tell-")
	require.Contains(t, prototext.Format(tree), "login ********")

	_, err = h.Preview(t.Context(), "tell", map[string]any{"how": "error"})
	require.NotContains(t, err.Error()+prototext.Format(sdktest.ToolError(err)), "tell-")

	tree, err = h.Render(t.Context(), map[string]any{"did": "used tell-inner-0"})
	require.NoError(t, err)
	require.Equal(t, "used ********", tree.GetRoot().GetText().GetContent())
}

func TestSecretsAreNotInWhatRefusesThem(t *testing.T) {
	p := teller()
	p.Setup(func(_ context.Context, cfg *vault, _ sdk.Env) error {
		if cfg.Token == "tell-panic" {
			panic(cfg.Token)
		}
		return sdk.BadField("token", "%q is not known at the mirror", cfg.Token)
	})
	for _, token := range []any{"tell-setup", "tell-panic", map[string]any{"tell-tell": "tell-tell"}, []any{"tell-tell"}} {
		err := sdktest.Configure(t, p, map[string]any{"token": token})
		require.Error(t, err)
		require.NotContains(t, err.Error()+prototext.Format(sdktest.ToolError(err)), "tell-")
	}
}

func TestShortSecretsAreLeftAlone(t *testing.T) {
	h := sdktest.Start(t, teller(), map[string]any{"token": "a", "keys": []any{"b", "c"}})
	r := h.Call(t.Context(), "tell", map[string]any{"how": "result"})
	require.Equal(t, "a b c   ", r.Result["did"], "every a of a text would be an asterisk")
}

// TestASecretIsGoneBeforeATextIsCut: what is left of one that was cut would not be known any more.
func TestASecretIsGoneBeforeATextIsCut(t *testing.T) {
	const token = "tell-token-0123456789"
	p := sdk.New[vault]("cutter", "For tests.")
	sdk.Tool(p, "tell", "Tells.", func(_ context.Context, c *sdk.Call[vault], in tellIn) (doOut, error) {
		about := func(limit int) string { return strings.Repeat("x", limit-len(token)/2) + c.Config.Token }
		switch in.How {
		case "status":
			c.Status("%s", about(64<<10))
		case "log":
			c.Log().Warn(about(64 << 10))
		case "error":
			return doOut{}, errors.New(about((4<<20-64<<10)/2) + strings.Repeat("y", 4<<20))
		case "detail":
			return doOut{}, sdk.Failed("failed").With("d", about((4<<20-64<<10)/8)+strings.Repeat("y", 4<<20))
		}
		return doOut{}, nil
	}).Streaming()
	h := sdktest.Start(t, p, map[string]any{"token": token, "proxy": map[string]any{"password": "other-password"}, "all": map[string]any{"inner": "x"}})
	for _, how := range []string{"status", "log", "error", "detail"} {
		r := h.Call(t.Context(), "tell", map[string]any{"how": how})
		for _, event := range r.Events {
			require.NotContains(t, prototext.Format(event), "tell-", how)
		}
	}
	for _, entry := range h.Logs() {
		require.NotContains(t, prototext.Format(entry), "tell-")
	}
}

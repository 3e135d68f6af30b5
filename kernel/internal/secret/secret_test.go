package secret_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/secret"
	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func hiding(values ...string) *secret.Set {
	s := &secret.Set{}
	s.Hide(values...)
	return s
}

const token = `s3cr3t/abc+"d" é`

// K27: a value is found in every form in which programs write it.
func TestForms(t *testing.T) {
	s := hiding(token)
	quoted, err := json.Marshal(token)
	require.NoError(t, err)
	for name, text := range map[string]string{
		"plain":              token,
		"in Go":              fmt.Sprintf("%q", token),
		"in JSON":            string(quoted),
		"in a query":         url.QueryEscape(token),
		"in a path":          url.PathEscape(token),
		"in a query, lower":  regexp.MustCompile("%..").ReplaceAllStringFunc(url.QueryEscape(token), strings.ToLower),
		"in base64":          base64.StdEncoding.EncodeToString([]byte(token)),
		"in base64 for URLs": base64.URLEncoding.EncodeToString([]byte(token)),
		"of one byte before": base64.StdEncoding.EncodeToString([]byte("a" + token)),
		"basic auth":         base64.StdEncoding.EncodeToString([]byte("me:" + token)),
		"with text behind":   base64.StdEncoding.EncodeToString([]byte("user:" + token + "@host")),
		"in hex":             hex.EncodeToString([]byte(token)),
	} {
		t.Run(name, func(t *testing.T) {
			got := s.Text("before " + text + " behind")
			require.Contains(t, got, "********")
			require.NotContains(t, got, text)
			require.True(t, strings.HasPrefix(got, "before ") && strings.HasSuffix(got, " behind"), got)
			// Nothing that is left lets the value be computed, but for a byte at each end of an encoding.
			require.Less(t, len(strings.ReplaceAll(got, "********", "")), len("before  behind")+20, got)
			require.Equal(t, got, string(s.Bytes([]byte("before "+text+" behind"))))
		})
	}
}

func TestWhatIsHidden(t *testing.T) {
	require.Equal(t, "to be", hiding("to").Text("to be"), "too short to be told from other text")
	require.Equal(t, "******** x", hiding(" hunter22\n").Text("hunter22 x"))
	require.Equal(t, "a\n********\nb", hiding("line one\nline two\n").Text("a\nline two\nb"))
	require.Equal(t, "********", hiding("aaaaaaaa", "aaaaaaaabbbb").Text("aaaaaaaabbbb"), "the longest counts")
	s := hiding("first-one")
	s.Hide("second-one")
	require.Equal(t, "******** ********", s.Text("first-one second-one"))
	var none *secret.Set
	require.Equal(t, "x", none.Text("x"))
	require.Equal(t, []byte("x"), (&secret.Set{}).Bytes([]byte("x")))
}

func TestClean(t *testing.T) {
	payload, err := structpb.NewStruct(map[string]any{
		"a": token, "list": []any{"x" + token, 1.0}, token: map[string]any{"deep": token},
		"encoded": base64.StdEncoding.EncodeToString([]byte(token)),
	})
	require.NoError(t, err)
	m := &toolv1.ToolError{Message: "with " + token, Details: payload}
	clean := secret.Clean(hiding(token), m)
	text, err := protojson.Marshal(clean)
	require.NoError(t, err)
	require.NotContains(t, string(text), "s3cr3t")
	require.Contains(t, m.GetMessage(), token, "the message itself stays")
	chunk := &toolv1.ToolEvent_OutputChunk{Data: []byte("x" + token)}
	require.Equal(t, "x********", string(secret.Clean(hiding(token), chunk).GetData()))
	other := &toolv1.ToolError{Message: "nothing in it"}
	require.Same(t, other, secret.Clean(hiding(token), other))
	require.Nil(t, secret.Clean(hiding(token), (*toolv1.ToolError)(nil)))
}

// However output is cut, nothing of a value comes through, and of the rest everything does.
func TestStream(t *testing.T) {
	whole := "begin " + token + "s3cr3t and s3cr3t/ab\n" + token + token + " end s3c"
	want := hiding(token).Text(whole)
	for size := 1; size <= len(whole); size++ {
		s := secret.Stream{Set: hiding(token)}
		var got strings.Builder
		for at := 0; at < len(whole); at += size {
			got.Write(s.Next([]byte(whole[at:min(at+size, len(whole))])))
		}
		got.Write(s.Rest())
		require.Equal(t, want, got.String(), "in parts of %d", size)
	}
}

func TestOf(t *testing.T) {
	attributes := []*configv1.ConfigAttribute{
		{Name: "token", Sensitive: true}, {Name: "name"},
		{Name: "login", ObjectAttributes: []*configv1.ConfigAttribute{{Name: "user"}, {Name: "password", Sensitive: true}}},
		{Name: "keys", Sensitive: true}, {Name: "absent", Sensitive: true},
	}
	config, err := structpb.NewStruct(map[string]any{
		"token": "t0ken", "name": "public", "login": map[string]any{"user": "me", "password": "pa55"}, "keys": []any{"k1", "k2"},
	})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"t0ken", "pa55", "k1", "k2"}, secret.Of(attributes, config))
}

func TestHandler(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(secret.Handler{Set: hiding(token), To: slog.NewJSONHandler(&out, nil)})
	log.With("with", token).WithGroup("g").ErrorContext(context.Background(), "says "+token, "text", token, "error", errors.New(token),
		slog.Group("group", "deep", token), "any", map[string]string{"k": token}, "number", 1)
	require.NotContains(t, out.String(), "s3cr3t")
	require.Contains(t, out.String(), `"number":1`)
	require.Equal(t, 6, strings.Count(out.String(), "********"))
}

func FuzzStream(f *testing.F) {
	f.Add("secret-value", "xxsecret-valuesecret-valsecret-value", uint8(3))
	f.Fuzz(func(t *testing.T, value, text string, size uint8) {
		if size == 0 || len(text) > 4096 || len(value) > 256 {
			return
		}
		set := hiding(value)
		s := secret.Stream{Set: set}
		var got []byte
		for at := 0; at < len(text); at += int(size) {
			got = append(got, s.Next([]byte(text[at:min(at+int(size), len(text))]))...)
		}
		got = append(got, s.Rest()...)
		if !bytes.Contains([]byte(text), []byte(value)) && set.Text(text) == text {
			require.Equal(t, text, string(got))
		}
		if strings.TrimSpace(value) == value && len(value) >= secret.Shortest && !strings.Contains("********", value) && !strings.Contains(value, "*") {
			require.NotContains(t, string(got), value)
		}
	})
}

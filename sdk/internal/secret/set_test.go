package secret_test

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func hiding(values ...string) *secret.Set {
	s := &secret.Set{}
	s.Hide(values)
	return s
}

func TestText(t *testing.T) {
	for _, test := range []struct {
		name   string
		hidden []string
		in     string
		want   string
	}{
		{"nothing to hide", nil, "plain", "plain"},
		{"not there", []string{"hunter2-2"}, "plain", "plain"},
		{"in the middle, twice", []string{"hunter2-2"}, "<hunter2-2|hunter2-2>", "<********|********>"},
		{"one inside another", []string{"hunter2-2", "hunter2-2-long"}, "hunter2-2-long hunter2-2", "******** ********"},
		{"seven bytes", []string{"hunter2"}, "hunter2", "hunter2"},
		{"mostly space", []string{"  a       "}, "  a       ", "  a       "},
		{"with the newline of its file", []string{"hunter2-2\n"}, "hunter2-2!", "********!"},
		{"quoted", []string{`hunter"2"-2`}, strconv.Quote(`hunter"2"-2`), `"********"`},
		{"as encoding/json writes it", []string{"a<hunter>&2"}, `"a\u003chunter\u003e\u00262"`, `"********"`},
		{"as other JSON is written", []string{"a<\vhünter>"}, `"a<\u000bhünter>"`, `"********"`},
		{"in ASCII", []string{"hünter-2-2"}, `"h\u00fcnter-2-2"`, `"********"`},
		{"quoted, without the newline of its file", []string{`hunter"2"-2` + "\n"}, strconv.Quote(`hunter"2"-2`), `"********"`},
		{"line by line", []string{"-- KEY --\nhunter2-2\n  22-retnuh\r\nend\n"}, "+hunter2-2\n+22-retnuh\n+end\n", "+********\n+********\n+end\n"},
		{"in a query", []string{"hunter 2+2"}, "t=" + url.QueryEscape("hunter 2+2"), "t=********"},
		{"in a path", []string{"hunter 2/2"}, "/" + url.PathEscape("hunter 2/2"), "/********"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := hiding(test.hidden...)
			require.Equal(t, test.want, s.Text(test.in))
			require.Equal(t, test.want, string(s.Bytes([]byte(test.in))))
			require.Equal(t, test.want != test.in, s.In([]byte(test.in)))
		})
	}
}

func TestCleanTouchesOnlyWhatItMust(t *testing.T) {
	clean := &toolv1.ToolError{Message: "plain", Details: &structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewNumberValue(1)}}}
	require.Same(t, clean, secret.Clean(hiding("hunter2-2"), clean))

	theirs := &structpb.Struct{Fields: map[string]*structpb.Value{
		"hunter2-2": structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{structpb.NewStringValue("is hunter2-2"), structpb.NewNumberValue(math.NaN())}}),
		"a\xff":     structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"b": structpb.NewStringValue("\xff")}}),
		"inf":       structpb.NewNumberValue(math.Inf(-1)),
	}}
	require.Equal(t, map[string]any{
		"********": []any{"is ********", "NaN"}, "a\uFFFD": map[string]any{"b": "\uFFFD"}, "inf": "-Inf",
	}, secret.Clean(hiding("hunter2-2"), theirs).AsMap())
	require.Contains(t, theirs.GetFields(), "hunter2-2", "a provider may still hold it")
}

func TestCleanChangesBytes(t *testing.T) {
	chunk := &toolv1.ToolEvent_OutputChunk{Data: []byte("\xffhunter2-2\xff")}
	require.Equal(t, "\xff********\xff", string(secret.Clean(hiding("hunter2-2"), chunk).GetData()))
}

func FuzzClean(f *testing.F) {
	f.Add("hunter2-2", "is hunter2-2", "key")
	f.Add(`a"b\c d/e+`, `x a"b\c d/e+`, "a\xff")
	f.Add("********", "********", "*********")
	f.Fuzz(func(t *testing.T, value, text, key string) {
		s := hiding(value)
		m := &structpb.Struct{Fields: map[string]*structpb.Value{key: structpb.NewStringValue(text), "list": structpb.NewListValue(&structpb.ListValue{
			Values: []*structpb.Value{structpb.NewStringValue(key + text)},
		})}}
		cleaned := secret.Clean(s, m)
		_, err := proto.Marshal(cleaned)
		require.NoError(t, err)
		for k, v := range cleaned.GetFields() {
			require.True(t, utf8.ValidString(k))
			if !s.Empty() && !strings.Contains(value, "*") && utf8.ValidString(text) {
				require.NotContains(t, v.GetStringValue(), value)
			}
		}
	})
}

func BenchmarkNothingToHide(b *testing.B) {
	s := &secret.Set{}
	chunk := make([]byte, 32<<10)
	b.ReportAllocs()
	for b.Loop() {
		s.Bytes(chunk)
	}
}

func BenchmarkChunkWithOneSecretToLookFor(b *testing.B) {
	s := hiding("hunter2-hunter2")
	chunk := make([]byte, 32<<10)
	b.SetBytes(int64(len(chunk)))
	b.ReportAllocs()
	for b.Loop() {
		s.Bytes(chunk)
	}
}

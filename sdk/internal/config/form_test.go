package config_test

import (
	"errors"
	"io"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	"github.com/agentco/agent/sdk/internal/config"
)

// handle stands for what decoding opens.
type handle struct{ name string }

// opening is a set of texts that counts what is open.
type opening struct{ open map[string]bool }

func (o *opening) texts() config.Texts {
	return config.Texts{reflect.TypeFor[handle](): func(dir, text string) (any, io.Closer, error) {
		if text == "bad" {
			return nil, nil, errors.New("must not be bad")
		}
		o.open[text] = true
		return handle{dir + "/" + text}, closing(func() { delete(o.open, text) }), nil
	}}
}

type closing func()

func (c closing) Close() error {
	c()
	return nil
}

type limits struct {
	Rate  float64       `hcl:"rate" default:"1.5"`
	Every time.Duration `hcl:"every" default:"30s"`
	Name  string        `hcl:"name,optional"`
}

type outer struct {
	Wait    time.Duration         `hcl:"wait,optional"`
	Waits   []time.Duration       `hcl:"waits,optional"`
	Addr    netip.Addr            `hcl:"addr,optional"`
	Addrs   map[string]netip.Addr `hcl:"addrs,optional"`
	At      *time.Time            `hcl:"at"`
	Count   *int                  `hcl:"count"`
	Limits  limits                `hcl:"limits,optional"`
	Maybe   *limits               `hcl:"maybe"`
	Opened  handle                `hcl:"opened" default:"x"`
	Handles []handle              `hcl:"handles,optional"`
}

func TestFormsOfAttributes(t *testing.T) {
	three, at := 3, time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	standard := limits{Rate: 1.5, Every: 30 * time.Second}
	base := outer{Limits: standard, Opened: handle{"/p/x"}}
	for _, test := range []struct {
		name, in string
		change   func(*outer)
		want     string // the error
	}{
		{"nothing", `{}`, func(*outer) {}, ""},
		{"a duration", `{"wait": "1h30m"}`, func(o *outer) { o.Wait = 90 * time.Minute }, ""},
		{"a duration in numbers", `{"wait": 5}`, nil, "wait must be a string"},
		{"no duration", `{"wait": "soon"}`, nil, `wait must be a duration such as "30s" or "1h30m", not "soon"`},
		{"durations", `{"waits": ["1s", "2s"]}`, func(o *outer) { o.Waits = []time.Duration{time.Second, 2 * time.Second} }, ""},
		{"one bad duration", `{"waits": ["1s", "2"]}`, nil, `waits[1] must be a duration such as "30s" or "1h30m", not "2"`},
		{"a text type", `{"addr": "10.0.0.1"}`, func(o *outer) { o.Addr = netip.MustParseAddr("10.0.0.1") }, ""},
		{"a bad text", `{"addr": "here"}`, nil, "addr is not right: ParseAddr(\"here\"): unable to parse IP"},
		{"a list for a text type", `{"addr": []}`, nil, "addr must be a string"},
		{"an object for a text type", `{"addr": {}}`, nil, "addr must be a string"},
		{"a map of text types", `{"addrs": {"a": "::1"}}`, func(o *outer) { o.Addrs = map[string]netip.Addr{"a": netip.IPv6Loopback()} }, ""},
		{"one bad in a map", `{"addrs": {"a": "x"}}`, nil, "addrs.a is not right: ParseAddr(\"x\"): unable to parse IP"},
		{"pointers", `{"at": "2026-11-30T00:00:00Z", "count": 3}`, func(o *outer) { o.At, o.Count = &at, &three }, ""},
		{"null is absence", `{"at": null, "count": null, "maybe": null}`, func(*outer) {}, ""},
		{"an object in part", `{"limits": {"rate": 2}}`, func(o *outer) { o.Limits.Rate = 2 }, ""},
		{"an object that is there", `{"maybe": {}}`, func(o *outer) { o.Maybe = &standard }, ""},
		{"inside an object", `{"maybe": {"every": "x"}}`, nil, `maybe.every must be a duration such as "30s" or "1h30m", not "x"`},
		{"unknown inside an object", `{"limits": {"rat": 1}}`, nil, "limits.rat is not an attribute of this provider; did you mean rate?"},
		{"a list for an object", `{"limits": []}`, nil, "limits must be an object"},
		{"a number that is none", `{"limits": {"rate": "NaN"}}`, nil, "limits.rate must be a number"},
		{"opened", `{"opened": "y", "handles": ["1", "2"]}`, func(o *outer) { o.Opened, o.Handles = handle{"/p/y"}, []handle{{"/p/1"}, {"/p/2"}} }, ""},
		{"not to be opened", `{"opened": "bad"}`, nil, "opened must not be bad"},
		{"not to be opened after others", `{"handles": ["1", "bad"]}`, nil, "handles[1] must not be bad"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := &opening{open: map[string]bool{}}
			shape, err := config.Of(reflect.TypeFor[outer](), o.texts())
			require.NoError(t, err)
			var got outer
			opened, err := shape.Decode(parse(t, test.in), &got, "/p")
			if test.want != "" {
				require.EqualError(t, err, test.want)
				require.Empty(t, o.open, "what was opened is closed")
				return
			}
			require.NoError(t, err)
			want := base
			test.change(&want)
			require.Equal(t, want, got)
			for _, c := range opened {
				require.NoError(t, c.Close())
			}
			require.Empty(t, o.open)
		})
	}
}

func TestFormsOnTheWire(t *testing.T) {
	shape, err := config.Of(reflect.TypeFor[outer](), (&opening{}).texts())
	require.NoError(t, err)
	got := map[string]string{}
	for _, a := range shape.Schema.GetAttributes() {
		require.False(t, a.GetRequired(), a.GetName())
		got[a.GetName()] = a.GetType().String()[len("ATTR_TYPE_"):] + " " + a.GetDefaultJson()
	}
	require.Equal(t, map[string]string{
		"wait": "STRING ", "waits": "LIST_STRING ", "addr": "STRING ", "addrs": "MAP_STRING ", "at": "STRING ", "count": "NUMBER ",
		"limits": "OBJECT ", "maybe": "OBJECT ", "opened": `STRING "x"`, "handles": "LIST_STRING ",
	}, got)
	require.Equal(t, configv1.AttrType_ATTR_TYPE_OBJECT, shape.Schema.GetAttributes()[6].GetType())
	require.Len(t, shape.Schema.GetAttributes()[6].GetObjectAttributes(), 3)
}

type hidden struct {
	Plain  string            `hcl:"plain,optional"`
	Token  netip.Addr        `hcl:"token,optional" sensitive:"true"`
	List   []string          `hcl:"list,optional" sensitive:"true"`
	Map    map[string]string `hcl:"map,optional" sensitive:"true"`
	Object struct {
		Inner struct {
			Wait time.Duration `hcl:"wait,optional"`
			N    int           `hcl:"n,optional"`
		} `hcl:"inner,optional"`
	} `hcl:"object,optional" sensitive:"true"`
	Open struct {
		Key string `hcl:"key,optional" sensitive:"true"`
	} `hcl:"open,optional"`
}

func TestSecretsAreFoundWhereverTheyAre(t *testing.T) {
	got := typeOf[hidden](t).Secrets(parse(t, `{
		"plain": "plain", "token": "1", "list": ["2", "3"], "map": {"k": "4"},
		"object": {"inner": {"wait": "5", "n": 6}, "wrong": ["7"]}, "open": {"key": "8"}
	}`))
	require.ElementsMatch(t, []string{"1", "2", "3", "4", "5", "7", "8"}, got)
}

func TestAnErrorAboutASecretDoesNotShowIt(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"itself", `{"token": "hunter2"}`, "token does not have the right form; its value is not shown because it is sensitive"},
		{"inside", `{"object": {"inner": {"wait": "hunter2"}}}`, "object.inner.wait does not have the right form; its value is not shown because it is sensitive"},
		{"of another type", `{"map": "hunter2"}`, "map must be a map of strings"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := typeOf[hidden](t).Decode(parse(t, test.in), &hidden{}, "")
			require.EqualError(t, err, test.want)
		})
	}
}

type selfish struct {
	Inner *selfish `hcl:"inner"`
}

func TestOfRefusesWhatCannotBeMeant(t *testing.T) {
	for _, test := range []struct {
		name string
		of   reflect.Type
		want string
	}{
		{"recursion", reflect.TypeFor[selfish](), "holds itself"},
		{"a pointer to a pointer", reflect.TypeFor[struct {
			P **int `hcl:"p"`
		}](), "no attribute type"},
		{"a list of objects", reflect.TypeFor[struct {
			L []limits `hcl:"l"`
		}](), "no attribute type"},
		{"a map of numbers", reflect.TypeFor[struct {
			M map[string]int `hcl:"m"`
		}](), "no attribute type"},
		{"a secret number", reflect.TypeFor[struct {
			N int `hcl:"n" sensitive:"true"`
		}](), "a sensitive attribute holds text"},
		{"a default inside a secret", reflect.TypeFor[struct {
			O limits `hcl:"o" sensitive:"true"`
		}](), "cannot have a default"},
		{"a default that is no duration", reflect.TypeFor[struct {
			D time.Duration `hcl:"d" default:"soon"`
		}](), "does not fit"},
		{"one name twice", reflect.TypeFor[struct {
			A int `hcl:"n"`
			B int `hcl:"n"`
		}](), `two fields are named "n"`},
		{"a name that no file can have", reflect.TypeFor[struct {
			A int `hcl:"my limit"`
		}](), "can be written in agent.hcl"},
		{"a secret that is none", reflect.TypeFor[struct {
			S string `hcl:"s" sensitive:"yes"`
		}](), `sensitive tag "yes" is neither true nor false`},
		{"an embedded pointer", reflect.TypeFor[struct{ *limits }](), "embed the struct"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := config.Of(test.of, nil)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"wait": "1s", "waits": ["2s"], "addr": "::1", "addrs": {"a": "::1"}, "count": 3, "limits": {"rate": 1}, "handles": ["a", "b"]}`))
	f.Add([]byte(`{"maybe": {"every": 1}, "at": null, "opened": ["bad"]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		in := &structpb.Struct{}
		if protojson.Unmarshal(text, in) != nil {
			return
		}
		o := &opening{open: map[string]bool{}}
		shape, err := config.Of(reflect.TypeFor[outer](), o.texts())
		require.NoError(t, err)
		shape.Secrets(in)
		opened, err := shape.Decode(in, &outer{}, "/p")
		if err != nil {
			var field *config.FieldError
			require.ErrorAs(t, err, &field)
			require.NotEmpty(t, field.Attribute)
		}
		for _, c := range opened {
			require.NoError(t, c.Close())
		}
		require.Empty(t, o.open)
	})
}

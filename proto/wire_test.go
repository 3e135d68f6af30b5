package proto_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/agentco/agent/proto/pluggableharness/event/v1"
	_ "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	_ "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	"github.com/agentco/agent/proto/plugin"
)

var update = flag.Bool("update", false, "write testdata/wire.txt anew; only for additions, since what is there is what others have built on")

// TestWireContract holds every name and number of the public protocol to the list in testdata/wire.txt: whoever changes
// one breaks providers and kernels that were built by others.
func TestWireContract(t *testing.T) {
	var lines []string
	protoregistry.GlobalFiles.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		if strings.HasPrefix(string(f.Package()), "pluggableharness.") {
			lines = append(lines, messages(f.Messages())...)
			lines = append(lines, enums(f.Enums())...)
			lines = append(lines, services(f.Services())...)
		}
		return true
	})
	slices.Sort(lines)
	lines = append(lines,
		fmt.Sprintf("handshake %s=%s version %d", plugin.MagicCookieKey, plugin.MagicCookieValue, plugin.ProtocolVersion),
		fmt.Sprintf("keys %s %s; callbacks on stream %d; payloads of version %s", plugin.Tool, plugin.SlashCommand, plugin.CallbackStreamID, plugin.SchemaVersion),
	)
	got := strings.ReplaceAll(strings.Join(lines, "\n"), "pluggableharness.", "") + "\n"
	if *update {
		if err := os.WriteFile("testdata/wire.txt", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/wire.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range difference(string(want), got) {
		t.Errorf("gone from the wire: %s", line)
	}
	for _, line := range difference(got, string(want)) {
		t.Errorf("new on the wire: %s (run with -update if it is meant)", line)
	}
}

// difference is the lines of a that b lacks.
func difference(a, b string) (out []string) {
	have := strings.Split(b, "\n")
	for _, line := range strings.Split(a, "\n") {
		if !slices.Contains(have, line) {
			out = append(out, line)
		}
	}
	return out
}

func messages(list protoreflect.MessageDescriptors) (out []string) {
	for i := range list.Len() {
		m := list.Get(i)
		if m.IsMapEntry() {
			continue
		}
		out = append(out, "message "+string(m.FullName()))
		for j := range m.Fields().Len() {
			out = append(out, field(m.Fields().Get(j)))
		}
		out = append(append(out, messages(m.Messages())...), enums(m.Enums())...)
	}
	return out
}

func field(f protoreflect.FieldDescriptor) string {
	kind := f.Kind().String()
	switch {
	case f.IsMap():
		kind = fmt.Sprintf("map<%s, %s>", f.MapKey().Kind(), f.MapValue().Message().FullName())
	case f.Message() != nil:
		kind = string(f.Message().FullName())
	case f.Enum() != nil:
		kind = string(f.Enum().FullName())
	}
	label := ""
	switch oneof := f.ContainingOneof(); {
	case f.IsList():
		label = "repeated "
	case f.HasOptionalKeyword():
		label = "optional "
	case oneof != nil:
		label = "oneof " + string(oneof.Name()) + " "
	}
	return fmt.Sprintf("field %s = %d %s%s", f.FullName(), f.Number(), label, kind)
}

func enums(list protoreflect.EnumDescriptors) (out []string) {
	for i := range list.Len() {
		values := list.Get(i).Values()
		for j := range values.Len() {
			out = append(out, fmt.Sprintf("enum %s %s = %d", list.Get(i).FullName(), values.Get(j).Name(), values.Get(j).Number()))
		}
	}
	return out
}

func services(list protoreflect.ServiceDescriptors) (out []string) {
	for i := range list.Len() {
		methods := list.Get(i).Methods()
		for j := range methods.Len() {
			m := methods.Get(j)
			stream := ""
			if m.IsStreamingServer() {
				stream = "stream "
			}
			out = append(out, fmt.Sprintf("rpc %s(%s) returns (%s%s)", m.FullName(), m.Input().FullName(), stream, m.Output().FullName()))
		}
	}
	return out
}

package plan

import (
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// Step is a call as far as its place in a list matters.
type Step struct {
	Provider, Operation string
	Kind                toolv1.ToolKind
	Concurrency         *toolv1.ConcurrencySpec
	Arguments           *structpb.Struct
	// After are the steps that this one is said to come after, by index; Explicit that this is all of them.
	After    []int
	Explicit bool
}

// Order says after which steps each one comes, by index. A list is read from top to bottom, so a step comes after those
// above, unless it is known that neither can make a difference to the other:
//
//   - both only read;
//   - both are of the same operation, which its provider lets run beside itself by the values of some arguments, and
//     those have nothing to do with each other, as in two files that are written.
//
// What a step says itself takes the place of that. dir is what relative paths among the arguments are read against.
func Order(dir string, steps []Step) [][]int {
	order := make([][]int, len(steps))
	for i, s := range steps {
		if s.Explicit {
			order[i] = s.After
			continue
		}
		for j, before := range steps[:i] {
			if !independent(dir, before, s) {
				order[i] = append(order[i], j)
			}
		}
	}
	return order
}

func independent(dir string, a, b Step) bool {
	const reads = toolv1.ToolKind_TOOL_KIND_DATA_SOURCE
	if a.Kind == reads && b.Kind == reads {
		return true
	}
	keyed := a.Concurrency.GetSafe() && len(a.Concurrency.GetKeyFields()) > 0
	if a.Provider != b.Provider || a.Operation != b.Operation || !keyed {
		return false
	}
	fields := a.Concurrency.GetKeyFields()
	for _, x := range keys(dir, a.Arguments, fields) {
		for _, y := range keys(dir, b.Arguments, fields) {
			if touches(x, y) {
				return false
			}
		}
	}
	return true
}

// keys are the values that calls are told apart by, as if they were paths. One that is missing, or no text, is "".
func keys(dir string, args *structpb.Struct, fields []string) []string {
	values := make([]string, len(fields))
	for i, field := range fields {
		switch text := strings.ToLower(args.GetFields()[field].GetStringValue()); {
		case text == "":
		case filepath.IsAbs(text):
			values[i] = filepath.Clean(text)
		default:
			values[i] = filepath.Join(strings.ToLower(dir), text)
		}
	}
	return values
}

// touches reports whether two values may stand for the same thing, or one for a part of the other.
func touches(a, b string) bool {
	if a == "" || b == "" {
		return true
	}
	within := func(path, dir string) bool {
		return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
	}
	return within(a, b) || within(b, a)
}

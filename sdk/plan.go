package sdk

import (
	"fmt"
	"strings"

	"github.com/agentco/agent/sdk/render"
)

// Plan is what a call would do, as shown to whoever approves it. The zero value shows nothing.
type Plan struct{ nodes []render.Node }

// Says is a plan in a sentence.
func Says(format string, args ...any) Plan { return Shows(render.Text(fmt.Sprintf(format, args...))) }

// Reads is a plan that looks at files.
func Reads(paths ...string) Plan { return Says("read %s", strings.Join(paths, ", ")) }

// Runs is a plan that runs a command line.
func Runs(commandLine string) Plan { return Shows(render.Code("sh", commandLine)) }

// Changes is a plan that turns the text of a file into another, shown as a diff.
func Changes(path, before, after string) Plan {
	return Shows(render.Styled(render.Bold, path), render.Diff(before, after))
}

// Shows is a plan made of nodes.
func Shows(nodes ...render.Node) Plan { return Plan{nodes: nodes} }

// And is both plans, one after the other.
func (p Plan) And(next Plan) Plan {
	return Plan{nodes: append(append([]render.Node(nil), p.nodes...), next.nodes...)}
}

func (p Plan) node() render.Node {
	if len(p.nodes) == 1 {
		return p.nodes[0]
	}
	return render.Group(p.nodes...)
}

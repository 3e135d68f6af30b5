package config

import (
	"slices"
	"strings"

	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
)

// hookPoints are the points of the protocol as agent.hcl spells them, in the order of a session.
var hookPoints = func() []string {
	var points []string
	for n, name := range commonv1.HookPoint_name {
		if n != int32(commonv1.HookPoint_HOOK_POINT_UNSPECIFIED) {
			points = append(points, strings.ToLower(strings.TrimPrefix(name, "HOOK_POINT_")))
		}
	}
	slices.SortFunc(points, func(a, b string) int { return int(hookNumber(a) - hookNumber(b)) })
	return points
}()

func hookNumber(point string) int32 {
	return commonv1.HookPoint_value["HOOK_POINT_"+strings.ToUpper(point)]
}

// hook checks the point, and refuses the block all the same: version 1 of the protocol names the points, but has no
// call by which a provider would learn that one is reached. To skip a hook in silence would be to run without what it
// was written to guard.
func (l *loader) hook(b *block) {
	point := b.Labels[0]
	if !slices.Contains(hookPoints, point) {
		l.fail(b.LabelRanges[0], "Unknown hook point "+quoted(point), "%sThe points are %s.", didYouMean(point, hookPoints), list(hookPoints))
		return
	}
	l.fail(b.DefRange(), "Nothing can be hooked to "+quoted(point),
		"Version 1 of the protocol has no call that tells a provider of it, and agent will not run as if the block were not there. "+
			"Remove it, or comment it out. What calls may do is limited by policy blocks, what there is to call by agent_profile blocks.")
}

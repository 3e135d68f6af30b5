// Package plugin holds what a kernel and a provider must agree on before they can speak: the go-plugin
// handshake, the names services are dispensed by, and the stream the kernel's callbacks are served on.
// It has no dependencies, so that either side can be written without the other.
package plugin

import "time"

// Handshake. A binary started without the cookie knows that a person started it and says so.
const (
	MagicCookieKey   = "PLUGGABLEHARNESS_AGENT_PLUGIN"
	MagicCookieValue = "pluggableharness-agent-v1-a6f3c9d2-plugin-handshake"
	// ProtocolVersion is the version of the runtime contract. Each category has a version of its own.
	ProtocolVersion = 1
)

// Keys of the plugin map, one a category.
const (
	Tool         = "tool"
	SlashCommand = "slashcommand"
)

// CallbackStreamID is the broker stream on which the kernel serves KernelCallbackService.
const CallbackStreamID uint32 = 1

// Flow control, in bytes: what may be under way on one stream and on a whole connection. A fixed window that is large enough
// for full speed between processes of one machine spares each call the pings by which gRPC finds out how large one should
// be. A side may choose others.
const (
	StreamWindow     = 1 << 20
	ConnectionWindow = 4 << 20
)

// Renderings that go with results. A kernel that is about to show a result puts RenderHeader into the metadata of Invoke,
// with any value. A provider may then end the stream with the RenderTree of a small result as RenderingTrailer, which saves
// the kernel a Render; or, when there is too much of it for that, with RenderingKept, of any value, which saves both the
// result's way back: a Render that has the id of the call as RenderHeader, and no payload, gets the tree, once, within
// KeptFor. Both sides may leave all of this out, and a provider may always answer that it keeps none.
const (
	RenderHeader     = "pluggableharness-render"
	RenderingTrailer = "pluggableharness-rendering-bin"
	RenderingKept    = "pluggableharness-rendering-kept"
	// LongestRendering is how many bytes a tree may have as a trailer, encoded.
	LongestRendering = 16 << 10
	// KeptFor is how long a provider keeps a rendering, unless it needs the room for later ones.
	KeptFor = 10 * time.Second
)

// ReportHeader is in the metadata of Describe when a kernel that has cancelled a call asks about it: the id of the call. gRPC
// drops the last event of a call that ends at that moment, and for a provider that has sent it there was nothing to report.
// A provider that knows the header hands over the report of a call that is over, or has never come, before it answers; one
// that is at work is going to report, and is answered for when it has. Both sides may leave this out.
const ReportHeader = "pluggableharness-report"

// AttemptHeader is in the metadata of Invoke, and of a Describe with ReportHeader, when a kernel makes a call again under its
// id: a number, in decimal digits, that no other attempt at the call has. Without it the first is meant. So the question is
// never answered with how an earlier attempt ended. Both sides may leave this out.
const AttemptHeader = "pluggableharness-attempt"

// SchemaVersion is the version of the payloads that Render and Emit carry.
const SchemaVersion = "1"

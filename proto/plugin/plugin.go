// Package plugin holds what a kernel and a provider must agree on before they can speak: the go-plugin
// handshake, the names services are dispensed by, and the stream the kernel's callbacks are served on.
// It has no dependencies, so that either side can be written without the other.
package plugin

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

// SchemaVersion is the version of the payloads that Render and Emit carry.
const SchemaVersion = "1"

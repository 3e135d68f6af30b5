package host

import (
	"cmp"
	"errors"

	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/proto"
)

// Introduction is what a provider says of itself before it is configured. By the protocol it says the same each time and
// without a network, so that it may be remembered by the checksum of the binary. The messages in it are shared and not to
// be changed.
type Introduction struct {
	// Tools and Commands are the answers of the two categories; nil for one that it does not serve.
	Tools    *toolv1.GetSchemaResponse
	Commands *slashcommandv1.GetCapabilitiesResponse
	// ToolsProducer and CommandsProducer identify the build; nil when it does not say.
	ToolsProducer, CommandsProducer *commonv1.ProducerRef
}

// Equal reports whether two introductions say the same.
func (i *Introduction) Equal(other *Introduction) bool {
	return i != nil && other != nil && i.offersAs(other) &&
		proto.Equal(i.ToolsProducer, other.ToolsProducer) && proto.Equal(i.CommandsProducer, other.CommandsProducer)
}

// offersAs reports whether two introductions have the same operations and configuration, whichever build it is.
func (i *Introduction) offersAs(other *Introduction) bool {
	return proto.Equal(i.Tools, other.Tools) && proto.Equal(i.Commands, other.Commands)
}

// discovery is an introduction as the kernel works with it.
type discovery struct {
	said       *Introduction
	operations []Operation
	producers  []*commonv1.ProducerRef
	configs    []*configv1.ConfigSchema
	config     *configv1.ConfigSchema
}

// version is what the build calls itself, whatever it serves.
func (d discovery) version() string {
	for _, producer := range d.producers {
		return producer.GetVersion()
	}
	return ""
}

// read takes an introduction at its word, when it keeps to the protocol. name is that of the provider in agent.hcl.
func (i *Introduction) read(name string) (discovery, error) {
	d := discovery{said: i}
	if i.Tools != nil {
		for _, s := range i.Tools.GetTools() {
			d.operations = append(d.operations, fromTool(name, s))
		}
		d.add(name, commonv1.Category_CATEGORY_TOOL, i.ToolsProducer, i.Tools.GetConfigSchema())
	}
	if i.Commands != nil {
		for _, s := range i.Commands.GetCommands() {
			d.operations = append(d.operations, fromCommand(name, s))
		}
		d.add(name, commonv1.Category_CATEGORY_SLASHCOMMAND, i.CommandsProducer, i.Commands.GetConfigSchema())
	}
	if len(d.producers) == 0 {
		return discovery{}, errors.New("it serves neither tools nor slash commands: it is a provider of a category that this kernel does not have")
	}
	return d, check(d)
}

func (d *discovery) add(name string, category commonv1.Category, producer *commonv1.ProducerRef, config *configv1.ConfigSchema) {
	d.producers = append(d.producers, cmp.Or(producer, &commonv1.ProducerRef{Name: name, Category: category, ProtocolVersion: 1}))
	d.configs = append(d.configs, config)
	if len(d.config.GetAttributes()) == 0 {
		d.config = config
	}
}

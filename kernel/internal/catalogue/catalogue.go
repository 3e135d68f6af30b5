// Package catalogue remembers what providers say of themselves, so that their operations can be listed, completed and
// checked without starting them.
//
// An entry belongs to the sha256 of a binary: by the protocol what a provider offers depends on nothing else, neither on
// its configuration nor on a network. That it SHOULD answer the same each time is all the protocol says, so an entry
// decides nothing on its own: whoever starts a provider compares (see engine), and goes by what the process says.
//
//	$XDG_CACHE_HOME/agent/schemas/v1/SHA256         what the binary of that checksum says
//	$XDG_CACHE_HOME/agent/schemas/v1/files/SHA256   the checksum of a file, by its path, as long as it is the same file
//
// Everything in it may be removed at any time. What cannot be read is no entry; what cannot be written is not kept.
package catalogue

import (
	"encoding/json"
	"path/filepath"

	"github.com/adrg/xdg"
	"github.com/agentco/agent/kernel/internal/host"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/proto"
)

// format is the folder of everything that is written as it is here. Another way of writing is another folder.
const format = "v1"

// Catalogue is a folder of entries, which any number of processes may use at once. A nil one remembers nothing.
type Catalogue struct {
	dir string
}

// Default is the catalogue of the user, in $XDG_CACHE_HOME; nil when there is no place for it.
func Default() *Catalogue {
	if !filepath.IsAbs(xdg.CacheHome) { // it would be a folder of wherever this is
		return nil
	}
	return In(filepath.Join(xdg.CacheHome, "agent", "schemas"))
}

// In is the catalogue in a folder, which is made when there is something to keep.
func In(dir string) *Catalogue { return &Catalogue{dir: filepath.Join(dir, format)} }

// entry is the content of a file. The messages are in the form of the wire.
type entry struct {
	Tools            *[]byte `json:"tools,omitempty"`
	Commands         *[]byte `json:"commands,omitempty"`
	ToolsProducer    *[]byte `json:"tools_producer,omitempty"`
	CommandsProducer *[]byte `json:"commands_producer,omitempty"`
}

// Find returns what the binary of a checksum says of itself; nil when that is not known.
func (c *Catalogue) Find(checksum string) *host.Introduction {
	if c == nil || !isChecksum(checksum) {
		return nil
	}
	content, err := readSealed(c.entry(checksum))
	if err != nil {
		return nil
	}
	said, err := decode(content)
	if err != nil {
		return nil
	}
	touch(c.entry(checksum))
	return said
}

// Keep remembers what the binary of a checksum says of itself, in the place of what was known before.
func (c *Catalogue) Keep(checksum string, said *host.Introduction) error {
	if c == nil || !isChecksum(checksum) {
		return nil
	}
	content, err := encode(said)
	if err != nil {
		return err
	}
	if err := writeSealed(c.entry(checksum), content); err != nil {
		return err
	}
	prune(c.dir)
	return nil
}

func (c *Catalogue) entry(checksum string) string { return filepath.Join(c.dir, checksum) }

func encode(said *host.Introduction) ([]byte, error) {
	var e entry
	var err error
	put := func(to **[]byte, m proto.Message, there bool) {
		if !there || err != nil {
			return
		}
		var content []byte
		content, err = proto.Marshal(m)
		*to = &content
	}
	put(&e.Tools, said.Tools, said.Tools != nil)
	put(&e.Commands, said.Commands, said.Commands != nil)
	put(&e.ToolsProducer, said.ToolsProducer, said.ToolsProducer != nil)
	put(&e.CommandsProducer, said.CommandsProducer, said.CommandsProducer != nil)
	if err != nil {
		return nil, err
	}
	return json.Marshal(e)
}

func decode(content []byte) (*host.Introduction, error) {
	var e entry
	if err := json.Unmarshal(content, &e); err != nil {
		return nil, err
	}
	said := &host.Introduction{}
	var err error
	get := func(from *[]byte, m proto.Message) bool {
		if from == nil || err != nil {
			return false
		}
		err = proto.Unmarshal(*from, m)
		return true
	}
	if m := (&toolv1.GetSchemaResponse{}); get(e.Tools, m) {
		said.Tools = m
	}
	if m := (&slashcommandv1.GetCapabilitiesResponse{}); get(e.Commands, m) {
		said.Commands = m
	}
	if m := (&commonv1.ProducerRef{}); get(e.ToolsProducer, m) {
		said.ToolsProducer = m
	}
	if m := (&commonv1.ProducerRef{}); get(e.CommandsProducer, m) {
		said.CommandsProducer = m
	}
	return said, err
}

package config

import "bytes"

// Text is agent.hcl as it was read.
func (p *Project) Text() []byte { return bytes.Clone(p.file.src) }

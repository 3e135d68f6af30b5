package lean

import "github.com/agentco/agent/kernel/internal/keeper/serve"

func slim() { serve.Slim() }

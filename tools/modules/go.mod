// The tags of the modules, beside those of the releases.
module github.com/agentco/agent/tools/modules

go 1.26.0

require golang.org/x/mod v0.42.0

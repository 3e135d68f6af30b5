# How this project releases itself: tools/release.sh runs /release with it.
required_providers {
  release-tools = {
    source  = "github.com/agentco/agent//provider-release-tools"
    version = "~> 0.1"
  }
}

# The tag holds its own changelog, and nothing but main is released.
provider "release-tools" {
  commit   = true
  branches = ["main"]
}

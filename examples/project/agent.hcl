required_providers {
  filesystem = {
    source  = "github.com/agentco/agent//provider-filesystem"
    version = "~> 0.1.0"
  }
  bash = {
    source  = "github.com/agentco/agent//provider-bash"
    version = "~> 0.1.0"
  }
  release-tools = {
    source  = "github.com/agentco/agent//provider-release-tools"
    version = "~> 0.1.0"
  }
}

# The file tools see this project and nothing else.
provider "filesystem" {
  allowed_roots = ["${path.root}"]
}

# Commands start in the project; of the environment they get what is listed, and this.
provider "bash" {
  allowed_roots = ["${path.root}"]
  env           = { CGO_ENABLED = "0" }
}

# A release commits the changelog and tags that commit. Without commit = true the tag is put on HEAD, and the rewritten
# changelog waits in the working tree.
provider "release-tools" {
  changelog_path = "CHANGELOG.md"
  commit         = true
}

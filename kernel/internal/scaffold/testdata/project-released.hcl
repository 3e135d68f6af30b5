# What agents may use in this project. Everything that changes something is shown and asked about, unless a policy decides.
required_providers {
  filesystem = {
    source  = "github.com/agentco/agent//provider-filesystem"
    version = "~> 1.2.3"
  }
  bash = {
    source  = "github.com/agentco/agent//provider-bash"
    version = "~> 1.2.3"
  }
  release-tools = {
    source  = "github.com/agentco/agent//provider-release-tools"
    version = "~> 1.2.3"
  }
}

# The file tools see this project and nothing else.
provider "filesystem" {
  allowed_roots = ["${path.root}"]
}

# Commands start in this project. Of the environment they get a short list, and what env = { NAME = "value" } adds.
provider "bash" {
  allowed_roots = ["${path.root}"]
}

# With commit = true a release commits the changelog and tags that commit; without, it tags HEAD and leaves the changelog
# in the working tree.
provider "release-tools" {
  changelog_path = "CHANGELOG.md"
}

# Whoever finds a question tiresome writes down the answer:
#
# policy "tests" {
#   match  = { provider = "bash", command = ["make test", "git status"] }
#   action = "allow"
# }

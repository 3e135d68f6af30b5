# What agents may use in this project. Everything that changes something is shown and asked about, unless a policy decides.
required_providers {
  filesystem = {
    source = "github.com/agentco/agent//provider-filesystem"
  }
  bash = {
    source = "github.com/agentco/agent//provider-bash"
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

# Whoever finds a question tiresome writes down the answer:
#
# policy "tests" {
#   match  = { provider = "bash", command = ["make test", "git status"] }
#   action = "allow"
# }

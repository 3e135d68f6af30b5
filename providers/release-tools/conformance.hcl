# How the conformance suite tries this provider: every command, in a repository of its own.
#
#   conformance --scenario providers/release-tools/conformance.hcl bin/provider-release-tools
config {
  changelog_path = "CHANGELOG.md"
}

file "CHANGELOG.md" {
  content = <<-EOT
    # Changelog

    ## [Unreleased]

    ### Added

    - A second category

    ## [1.3.0] - 2026-09-14

    ### Added

    - Rendering
  EOT
}

file "docs/index.md" {
  content = "# Documentation\n"
}

setup = [
  ["git", "init", "--quiet", "--initial-branch=main"],
  ["git", "config", "user.name", "Ada Example"],
  ["git", "config", "user.email", "ada@example.com"],
  ["git", "config", "commit.gpgsign", "false"],
  ["git", "config", "tag.gpgsign", "false"],
  ["git", "add", "."],
  ["git", "commit", "--quiet", "--message=Start"],
  ["git", "tag", "--annotate", "--message=v1.3.0", "v1.3.0"],
  ["git", "commit", "--quiet", "--allow-empty", "--message=fix: load twice"],
]

call "changelog" "what is unreleased" {
  payload = { unreleased = "### Added\n\n- A second category\n" }
  preview = true
  render  = true
}

call "changelog" "from a folder of the repository" {
  directory = "docs"
  payload   = { unreleased = "### Added\n\n- A second category\n" }
}

call "changelog" "one release, as JSON" {
  arguments = { version = "1.3.0", format = "json" }
}

call "changelog" "a release that is not there" {
  arguments = { version = "9.9.9" }
  expect    = "not_found"
}

call "changelog" "no format" {
  arguments = { format = "poem" }
  expect    = "invalid_arguments"
}

call "next-version" "after a fix and an addition" {
  payload = { version = "1.4.0", tag = "v1.4.0", previous = "1.3.0", level = "minor" }
  preview = true
  render  = true
}

call "next-version" "a candidate" {
  arguments = { pre = "rc", verbose = true }
  payload   = { version = "1.4.0-rc.1" }
}

call "next-version" "no label" {
  arguments = { pre = "1" }
  expect    = "invalid_arguments"
}

call "changelog-draft" "what the commits say" {
  payload = { draft = "### Added\n\n- A second category\n\n### Fixed\n\n- Load twice\n" }
  preview = true
  render  = true
}

call "changelog-draft" "since a release that is not there" {
  arguments = { since = "9.9.9" }
  expect    = "not_found"
}

call "changelog-add" "an entry" {
  arguments = { section = "Fixed", entry = "Load twice" }
  payload   = { changelog = "CHANGELOG.md", section = "Fixed", entry = "Load twice" }
  preview   = true
  render    = true
}

call "changelog-add" "no section" {
  arguments = { section = "Poems", entry = "x" }
  expect    = "invalid_arguments"
}

call "changelog-add" "cancelled" {
  arguments    = { section = "Fixed", entry = "x" }
  cancel_after = "event"
}

call "tags" "all" {
  payload = { total = 1 }
  preview = true
  render  = true
}

call "release" "no version" {
  arguments = { version = "soon" }
  expect    = "invalid_arguments"
}

call "release" "an older version" {
  arguments = { version = "1.2.0" }
  expect    = "execution_failed"
}

call "release" "the next" {
  arguments = { version = "auto", date = "2026-11-30" }
  stdout    = "Created tag v1.4.0\n"
  payload   = { version = "1.4.0", tag = "v1.4.0", date = "2026-11-30", committed = false, changelog = "CHANGELOG.md" }
  preview   = true
  render    = true
}

call "release" "again" {
  arguments = { version = "1.4.0" }
  expect    = "execution_failed"
}

call "release-undo" "what was made by hand" {
  arguments = { version = "1.3.0" }
  expect    = "execution_failed"
}

call "release-undo" "it" {
  arguments = { version = "1.4.0" }
  stdout    = "Removed tag v1.4.0\n"
  payload   = { version = "1.4.0", tag = "v1.4.0", changelog = "CHANGELOG.md" }
  preview   = true
  render    = true
}

call "release-undo" "again" {
  arguments = { version = "1.4.0" }
  expect    = "not_found"
}

call "release" "cancelled" {
  arguments    = { version = "1.4.0" }
  cancel_after = "event"
}

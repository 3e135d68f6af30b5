# How the provider is held to the protocol:
#   go run ./conformance/cmd/conformance --scenario examples/node-provider/conformance.hcl examples/node-provider/provider

config {
  folder   = "${workdir}/notes"
  seal_key = "not a secret of anybody's"
}

file "notes/one.md" {
  content = "# One\n\nhello\n\n## Inner\n"
}

file "notes/two.md" {
  content = "no title\n"
}

call "list_notes" "all" {
  preview  = true
  render   = true
  parallel = true
}

call "list_notes" "some" {
  arguments = { containing = "hello" }
}

call "list_notes" "the first" {
  arguments = { limit = 1 }
  payload   = { total = 2 }
}

call "list_notes" "half a note" {
  arguments = { limit = 0.5 }
  expect    = "invalid_arguments"
}

call "edit_note" "once" {
  arguments = { name = "one.md", old_text = "hello", new_text = "goodbye" }
  payload   = { name = "one.md", line = 3 }
  preview   = true
  render    = true
}

call "edit_note" "again" {
  arguments = { name = "one.md", old_text = "hello", new_text = "goodbye" }
  expect    = "not_found"
}

call "edit_note" "ambiguous" {
  arguments = { name = "one.md", old_text = "n", new_text = "" }
  expect    = "invalid_arguments"
}

call "edit_note" "no such note" {
  arguments = { name = "three.md", old_text = "a", new_text = "b" }
  expect    = "not_found"
}

call "edit_note" "a way out" {
  arguments = { name = "../one.md", old_text = "a", new_text = "b" }
  expect    = "invalid_arguments"
}

call "run" "both streams and an exit code" {
  arguments = { command = "echo out; echo err >&2; exit 3" }
  payload   = { exit_code = 3, output_bytes = 8 }
  preview   = true
  render    = true
}

call "run" "a signal" {
  arguments = { command = "kill -TERM $$" }
  payload   = { exit_code = 143, signal = "SIGTERM" }
}

call "run" "much output" {
  arguments = { command = "head -c 20000000 /dev/zero" }
  payload   = { output_bytes = 20000000 }
}

call "run" "cancelled" {
  arguments    = { command = "echo up; sleep 1000 & sleep 1000" }
  cancel_after = "output"
}

call "outline" "headings" {
  arguments = { name = "one.md" }
  preview   = true
  render    = true
}

call "outline" "no such note" {
  arguments = { name = "three.md" }
  expect    = "not_found"
}

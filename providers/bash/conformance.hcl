# How the conformance suite tries this provider: every operation, and every way a command can end.
#
#   conformance --scenario providers/bash/conformance.hcl bin/provider-bash

config {
  allowed_roots = [workdir]
  kill_grace_ms = 1000
}

file "notes.txt" {
  content = "one\ntwo\n"
}

file "below/notes.txt" {
  content = "further down\n"
}

call "bash" "both streams" {
  arguments = { command = "cat notes.txt; echo careful >&2" }
  payload   = { exit_code = 0, output_bytes = 16 }
  stdout    = "one\ntwo\n"
  stderr    = "careful\n"
  preview   = true
  render    = true
  parallel  = true
}

call "bash" "another, beside the first" {
  arguments = { command = "printf '%s' side by side", description = "Print three words." }
  payload   = { exit_code = 0, output = "sidebyside" }
  parallel  = true
}

call "bash" "in the call's directory" {
  arguments = { command = "cat notes.txt" }
  directory = "below"
  payload   = { exit_code = 0, output = "further down\n" }
}

call "bash" "a relative cwd" {
  arguments = { command = "cat notes.txt", cwd = "below" }
  payload   = { exit_code = 0, output = "further down\n" }
}

call "bash" "a command that fails is no failed call" {
  arguments = { command = "exit 3" }
  payload   = { exit_code = 3 }
}

call "bash" "ended by a signal" {
  arguments = { command = "kill -KILL $$" }
  payload   = { exit_code = 137, signal = "SIGKILL" }
}

call "bash" "input" {
  arguments = { command = "read line; echo \"<$line>\"", stdin = "hello\n" }
  payload   = { exit_code = 0, output = "<hello>\n" }
}

call "bash" "much, with characters that straddle the chunks" {
  arguments = { command = "for i in $(seq 50); do printf '%s' '${repeat("grün", 100)}'; done; echo .; echo end" }
  stdout    = "${repeat("grün", 5000)}.\nend\n"
  stderr    = ""
}

call "bash" "too slow" {
  arguments = { command = "sleep 60", timeout_ms = 100 }
  expect    = "timeout"
}

call "bash" "half a millisecond" {
  arguments = { command = "true", timeout_ms = 0.5 }
  expect    = "invalid_arguments"
}

call "bash" "nothing" {
  arguments = { command = " " }
  expect    = "invalid_arguments"
}

call "bash" "outside the roots" {
  arguments = { command = "true", cwd = "/" }
  expect    = "permission_denied"
}

call "bash" "no such directory" {
  arguments = { command = "true", cwd = "nowhere" }
  expect    = "not_found"
}

call "shell_read" "what only reads" {
  arguments = { command = "cat notes.txt | wc -l" }
  payload   = { exit_code = 0 }
  preview   = true
  render    = true
}

call "shell_read" "what also writes" {
  arguments = { command = "cat notes.txt > copy.txt" }
  expect    = "permission_denied"
}

# A process in the background, from its start to its end.

call "bash" "a background process" {
  arguments = { command = "read line; echo \"got $line\"; sleep 60", background = true }
}

call "process_list" "it is there" {
  preview = true
  render  = true
}

call "process_input" "a line for it" {
  arguments = { id = results["a background process"].session_id, data = "dinner\n" }
  payload   = { typed_bytes = 7 }
  preview   = true
  render    = true
}

call "process_output" "its answer" {
  arguments = { id = results["a background process"].session_id, offset = results["a line for it"].next_offset, wait_ms = 5000 }
  payload   = { state = "running" }
  preview   = true
  render    = true
}

call "process_output" "of no process" {
  arguments = { id = "nobody" }
  expect    = "not_found"
}

call "process_signal" "its end" {
  arguments = { id = results["a background process"].session_id, signal = "SIGKILL" }
  payload   = { sent = "SIGKILL" }
  preview   = true
  render    = true
}

# Cancelled: children, children that do not listen, and children that fled.

call "bash" "a child" {
  arguments    = { command = "echo running; sleep 60" }
  cancel_after = "output"
}

call "bash" "a child that ignores SIGTERM" {
  arguments    = { command = "trap '' TERM; echo running; while :; do sleep 1; done" }
  cancel_after = "output"
}

call "bash" "a child in a session of its own" {
  arguments    = { command = "setsid sleep 61 & echo running; sleep 60" }
  cancel_after = "output"
}

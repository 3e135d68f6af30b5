# How the conformance suite tries this provider: every operation, and every way to be refused.
#
#   conformance --scenario providers/filesystem/conformance.hcl bin/provider-filesystem

config {
  allowed_roots = [workdir]
}

file "greeting.txt" {
  content = "one\ntwo\nthree\n"
}

file "docs/guide.md" {
  content = "# Guide\n\nRead me.\n"
}

file "docs/greeting.txt" {
  content = "another greeting\n"
}

file ".env" {
  content = "TOKEN=not-for-you\n"
}

# Reading.

call "read_file" "a file" {
  arguments = { path = "greeting.txt" }
  payload   = { content = "one\ntwo\nthree\n", start_line = 1, end_line = 3, total_lines = 3, encoding = "utf-8" }
  preview   = true
  render    = true
}

call "read_file" "some lines" {
  arguments = { path = "greeting.txt", offset = 2, limit = 1 }
  payload   = { content = "two\n", start_line = 2, end_line = 2, truncated = true, next_offset = 3 }
}

call "read_file" "a relative path below the working directory" {
  arguments = { path = "greeting.txt" }
  directory = "docs"
  payload   = { content = "another greeting\n" }
}

call "read_file" "a file that is not there" {
  arguments = { path = "missing.txt" }
  expect    = "not_found"
}

call "read_file" "a file outside" {
  arguments = { path = "../../../../etc/passwd" }
  expect    = "permission_denied"
}

call "read_file" "a file that is denied" {
  arguments = { path = ".env" }
  expect    = "permission_denied"
}

call "read_file" "half a line" {
  arguments = { path = "greeting.txt", offset = 1.5 }
  expect    = "invalid_arguments"
}

call "read_many" "two files" {
  arguments = { paths = ["greeting.txt", "missing.txt"] }
  preview   = true
  render    = true
}

call "list_directory" "all levels" {
  arguments = { path = ".", depth = 2 }
  payload   = { truncated = false, unread = 0 }
  preview   = true
  render    = true
}

call "stat" "a directory" {
  arguments = { path = "docs" }
  payload   = { name = "docs", type = "directory" }
  preview   = true
  render    = true
}

call "glob" "by pattern" {
  arguments = { pattern = "**/*.md" }
  preview   = true
  render    = true
}

call "grep" "content" {
  arguments = { pattern = "t[a-z]o", mode = "content" }
  preview   = true
  render    = true
}

call "grep" "no pattern" {
  arguments = { pattern = "(" }
  expect    = "invalid_arguments"
}

# Changing. A file is read before it is changed; what was read above counts.

call "write_file" "a new file" {
  arguments = { path = "new/note.txt", content = "first\n" }
  payload   = { bytes = 6, created = true }
  preview   = true
  render    = true
  parallel  = true
}

call "write_file" "another new file, beside the first" {
  arguments = { path = "new/other.txt", content = "second\n" }
  payload   = { bytes = 7, created = true }
  parallel  = true
}

call "write_file" "a file that nobody has read" {
  arguments = { path = "docs/guide.md", content = "lost\n" }
  expect    = "execution_failed"
}

call "edit_file" "one place" {
  arguments = { path = "greeting.txt", old_string = "two", new_string = "zwei" }
  payload   = { replacements = 1 }
  preview   = true
  render    = true
}

call "edit_file" "a text that is not there" {
  arguments = { path = "greeting.txt", old_string = "four", new_string = "vier" }
  expect    = "not_found"
}

call "edit_file" "a text that is there more than once" {
  arguments = { path = "greeting.txt", old_string = "e", new_string = "E" }
  expect    = "invalid_arguments"
}

call "apply_edits" "several files" {
  arguments = {
    files = [
      { path = "greeting.txt", edits = [{ old_string = "one", new_string = "eins" }] },
      { path = "new/third.txt", content = "third\n" },
    ]
  }
  preview = true
  render  = true
}

call "copy" "a file" {
  arguments = { source = "greeting.txt", destination = "copy.txt" }
  payload   = { replaced = false, count = 1 }
  preview   = true
  render    = true
}

call "copy" "onto a file" {
  arguments = { source = "greeting.txt", destination = "docs/guide.md" }
  expect    = "invalid_arguments"
}

call "move" "a file" {
  arguments = { source = "copy.txt", destination = "moved.txt" }
  preview   = true
  render    = true
}

call "create_directory" "with those above it" {
  arguments = { path = "a/b/c" }
  preview   = true
  render    = true
}

call "delete" "a directory with what is in it" {
  arguments = { path = "a", recursive = true }
  payload   = { type = "directory", count = 3 }
  preview   = true
  render    = true
}

call "delete" "a root" {
  arguments = { path = ".", recursive = true }
  expect    = "permission_denied"
}

call "write_file" "something to take back" {
  arguments = { path = "regretted.txt", content = "oops\n" }
}

call "undo" "it" {
  arguments = { path = "regretted.txt" }
  payload   = { undone = "removed" }
  preview   = true
  render    = true
}

call "list_directory" "cancelled" {
  arguments    = { path = ".", depth = 9 }
  cancel_after = "start"
}

# It says of each file that it comes to it, so the cancellation always falls between two.
call "apply_edits" "cancelled" {
  arguments = {
    files = [
      for name in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"] :
      { path = "many/${name}.txt", content = repeat("a line\n", 10000) }
    ]
  }
  cancel_after = "event"
}

call "run" "a command that fails" {
  arguments = { command = "cat poem.txt; exit 3" }
  payload   = { exit_code = 3 }
  stdout    = "as much depends\nupon as little\n"
  preview   = true
  render    = true
}

call "run" "cancelled" {
  arguments    = { command = "echo begun; sleep 60 & wait" }
  cancel_after = "output"
}

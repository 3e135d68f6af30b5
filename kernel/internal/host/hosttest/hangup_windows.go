package hosttest

import "os"

// hangUp ends the process, since its connections cannot be found here.
func hangUp() { os.Exit(0) }

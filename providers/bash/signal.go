package main

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/agentco/agent/sdk"
)

// lastSignal is the highest signal that has a name; real-time signals have only numbers,
// and nothing that is asked for here is done by one.
const lastSignal = 31

// signalCalled finds a signal by what people write: SIGTERM, term, 15.
func signalCalled(text string) (unix.Signal, error) {
	name := strings.ToUpper(strings.TrimSpace(text))
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= lastSignal {
		return unix.Signal(n), nil
	}
	if !strings.HasPrefix(name, "SIG") {
		name = "SIG" + name
	}
	if s := unix.SignalNum(name); s >= 1 && s <= lastSignal {
		return s, nil
	}
	return 0, sdk.InvalidArgument("signal", "there is no signal %q; give a name such as SIGTERM, SIGKILL, SIGINT or SIGHUP", text)
}

package host

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// launches feeds the one thread that starts every provider. Pdeathsig is bound to the thread that forked, not to the
// process: a provider started from a thread that the runtime later ends would be killed with it. So this one is
// locked to its goroutine, and neither ever ends.
var launches = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go launchForever(work)
	return work
})

func launchForever(work <-chan func()) {
	runtime.LockOSThread()
	for launch := range work {
		launch()
	}
}

// startBound starts cmd in a process group of its own, so that a Ctrl-C of the terminal reaches the kernel alone, and
// has the system kill it when the kernel dies, however it dies.
func startBound(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	launches() <- func() { started <- cmd.Start() }
	return <-started
}

// awaitExit returns when the process has ended and leaves it a zombie: until it is reaped, its id and that of its
// group cannot belong to anyone else.
func awaitExit(cmd *exec.Cmd) {
	for unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

func reap(cmd *exec.Cmd) { _ = cmd.Wait() }

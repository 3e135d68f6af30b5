// Command demo plays a session on a copy of examples/project, through the real binaries: a failing test suite, a
// command cancelled half-way, a read that is refused, an edit that is approved, and a release.
//
// Usage: demo BIN PROJECT, with the folder of the binaries and the example project.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: demo BIN PROJECT")
		os.Exit(2)
	}
	// The first Ctrl-C ends the demo in good order: what runs is stopped, the folder is removed.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, bin, project string) (err error) {
	s, err := newStage(ctx, bin, project)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.leave()) }()
	for _, scene := range []func(*stage) error{
		prologue, failingTests, cancelled, refused, edited, passingTests, changelog, released,
	} {
		if err := scene(s); err != nil {
			return err
		}
	}
	return nil
}

func prologue(s *stage) error {
	s.say("A small Go module with a failing test, and three providers: agent.hcl says which, and what they may do.")
	return s.agent(0, "tools")
}

func failingTests(s *stage) error {
	s.say("The agent wants to run the tests. A shell can change anything, so agent shows the command and asks.")
	return s.approve(0, "invoke", "bash.bash", "command=go test ./...")
}

func cancelled(s *stage) error {
	s.say("A command that takes too long. Ctrl-C ends it and everything it started; what it had done is shown.")
	return s.interrupt("step 3", 130, "invoke", "bash.bash", "--yes", `command=for i in 1 2 3 4 5 6 7 8 9; do echo "step $i"; sleep 0.3; done`)
}

func refused(s *stage) error {
	s.say("A file outside of the project. The provider is jailed: no path gets out, no link either.")
	return s.agent(1, "invoke", "filesystem.read_file", "path=../../../etc/passwd")
}

func edited(s *stage) error {
	s.say("The fault is in format/format.go. The edit is shown as a diff, approved, and written in one piece.")
	// Who edits a file must have seen it: by reading it in the same session, or by its digest.
	content, err := os.ReadFile(filepath.Join(s.project, "format", "format.go"))
	if err != nil {
		return err
	}
	digest := fmt.Sprintf("%x", sha256.Sum256(content))
	return s.approve(0, "invoke", "filesystem.edit_file", "path=format/format.go",
		`old_string="%.1f %s"`, `new_string="%.2f %s"`, "expected_sha256="+digest)
}

func passingTests(s *stage) error {
	s.say("Again, and this time approved in advance.")
	if err := s.agent(0, "invoke", "bash.bash", "--yes", "command=go test ./..."); err != nil {
		return err
	}
	return s.git("commit", "--quiet", "--all", "--message=Write amounts with two decimals")
}

func changelog(s *stage) error {
	s.say("What is there to release?")
	return s.agent(0, "run", "/changelog")
}

func released(s *stage) error {
	s.say("Release it: everything is checked first, then there is the tag and the changelog, or neither.")
	if err := s.approve(0, "run", "/release", "1.4.0"); err != nil {
		return err
	}
	return s.git("show", "v1.4.0")
}

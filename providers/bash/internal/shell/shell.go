// Package shell knows how a command is handed to the shell.
package shell

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// maxArgument is what a command may have to be passed as an argument. Linux takes
// 128 KiB in one.
const maxArgument = 96 << 10

// Find returns the path of the shell called name, or of bash or else sh if name is empty.
func Find(name string) (string, error) {
	names := []string{name}
	if name == "" {
		names = []string{"bash", "sh"}
	}
	var err error
	for _, n := range names {
		var path string
		if path, err = exec.LookPath(n); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", err
}

// readScript runs descriptor 3, which the last redirection closes for what the command starts. A PATH without cat is no
// reason to run nothing and call that a success.
const readScript = `eval "$(cat <&3 2>/dev/null || command -p cat <&3 || echo exit 127)" 3<&-`

// Invocation is how a shell is called for one command.
type Invocation struct {
	Args []string
	// Script is nil, or the file that has to be descriptor 3 of the shell. The caller
	// closes it.
	Script *os.File
}

// Invoke prepares the shell at path to run command. Messages of the shell read
// "bash: line 3: ...", however long the command is.
func Invoke(path, command string) (Invocation, error) {
	name := filepath.Base(path)
	args := []string{name}
	if name == "bash" {
		args = append(args, "--norc", "--noprofile")
	}
	// A command may begin with a dash, and is no option for that.
	args = append(args, "-c", "--")
	if len(command) <= maxArgument {
		return Invocation{Args: append(args, command)}, nil
	}
	script, err := File("command", command)
	if err != nil {
		return Invocation{}, err
	}
	return Invocation{Args: append(args, readScript, name), Script: script}, nil
}

// File returns a file without a name that holds text, ready to be read.
func File(name, text string) (*os.File, error) {
	f, err := anonymous(name)
	if err != nil {
		return nil, fmt.Errorf("keep the %s for the shell: %w", name, err)
	}
	if _, err = f.WriteString(text); err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("keep the %s for the shell: %w", name, err)
	}
	return f, nil
}

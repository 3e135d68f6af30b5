package install

import "os"

// Executable says why a program could not be executed; nil when it could. Windows goes by the name.
func Executable(path string) error {
	if _, err := os.Stat(path); err != nil {
		return &Error{Code: NotExecutable, Attempted: "execute", On: path, Reason: err.Error(), Err: err}
	}
	return nil
}

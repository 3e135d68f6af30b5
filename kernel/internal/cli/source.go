package cli

import (
	"context"
	"fmt"
	"io"
	"os"
)

// mostSourceBytes bounds what is read whole: arguments, a list of calls, or a saved plan, which holds its previews.
const mostSourceBytes = 64 << 20

// readSource reads a file, or stdin when its name is a dash. Either may be a pipe whose writer never comes, or a device that
// never ends: the cause of ctx is returned when that ends first, and the wait goes on alone until the process ends.
func readSource(ctx context.Context, name string) ([]byte, error) {
	type reply struct {
		text []byte
		err  error
	}
	replies := make(chan reply, 1)
	go func() {
		text, err := readBounded(name)
		replies <- reply{text, err}
	}()
	select {
	case r := <-replies:
		return r.text, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func readBounded(name string) ([]byte, error) {
	in, shown := os.Stdin, "stdin"
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in, shown = f, name
	}
	text, err := io.ReadAll(io.LimitReader(in, mostSourceBytes+1))
	if err == nil && len(text) > mostSourceBytes {
		return nil, fmt.Errorf("%s is too large: at most %d MiB are read", shown, mostSourceBytes>>20)
	}
	return text, err
}

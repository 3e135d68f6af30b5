package subject

import (
	"context"
	"time"
)

// Function is an operation of this process. It gives output to out as it comes.
type Function func(ctx context.Context, vars Vars, out func([]byte)) (text string, err error)

// Functions is a subject of functions.
type Functions struct {
	Called string
	Has    map[string]Function
	// Process is the one that the functions talk to; zero for none.
	Process int
	// End is called by Close; it may be nil.
	End func()
}

// Name is the name it was given.
func (f *Functions) Name() string { return f.Called }

// PID is the process behind it.
func (f *Functions) PID() int { return f.Process }

// Can reports whether there is a function of that name.
func (f *Functions) Can(op string) bool { return f.Has[op] != nil }

// Close ends what is behind it.
func (f *Functions) Close() {
	if f.End != nil {
		f.End()
	}
}

// Batch calls the function.
func (f *Functions) Batch(ctx context.Context, op string, b Batch) (Samples, error) {
	return repeat(ctx, b, func(ctx context.Context, vars Vars) (a answered, err error) {
		begun := time.Now()
		text, err := f.Has[op](ctx, vars, func(p []byte) {
			if a.first == 0 {
				a.first = time.Since(begun)
			}
			a.output += len(p)
		})
		a.text = func() string { return text }
		return a, err
	})
}

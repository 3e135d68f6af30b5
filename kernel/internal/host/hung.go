package host

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// answerPatience is how long a provider may take to say who it is. One that is well does at once, whatever calls it has.
const answerPatience = 5 * time.Second

// suspect asks a provider that left something unanswered whether it is there at all, and ends it when it is not: stopped or
// stuck, it would let call after call run into its deadline. It returns at once, and is asked once at a time.
func (l *life) suspect() {
	if !l.suspected.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer l.suspected.Store(false)
		ctx, cancel := context.WithTimeout(context.Background(), answerPatience)
		defer cancel()
		_, err := l.serves[0].describe(ctx, &Introduction{})
		if status.Code(err) != codes.DeadlineExceeded || !l.usable() {
			return
		}
		l.callbacks.log.Warn("the provider does not answer any more: it is ended, and the next call starts it again")
		l.cut("did not answer any more")
	}()
}

// suspectAfter suspects the provider when it let the deadline of a question pass.
func (l *life) suspectAfter(err error) {
	if status.Code(err) == codes.DeadlineExceeded {
		l.suspect()
	}
}

// cut ends a process that lives on and is of no use. why completes "the provider … during the call".
func (l *life) cut(why string) {
	l.cutOff.CompareAndSwap(nil, &why)
	l.process.kill()
}

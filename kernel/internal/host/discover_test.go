package host

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestUnanswered(t *testing.T) {
	late := status.Error(codes.DeadlineExceeded, "context deadline exceeded")
	require.EqualError(t, unanswered("it was not configured", time.Minute, late), "it was not configured: there was no answer within 1m0s")
	broken := status.Error(codes.Unavailable, "EOF")
	require.ErrorIs(t, unanswered("it was not configured", time.Minute, broken), broken)
	require.True(t, lost(unanswered("it was not configured", time.Minute, broken)), "a lost connection is still told as one")
}

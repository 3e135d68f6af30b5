package sdk

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

func TestRememberedArgumentsAreBoundedInNumberAndInBytes(t *testing.T) {
	payload := func(i int) *structpb.Struct {
		return &structpb.Struct{Fields: map[string]*structpb.Value{"i": structpb.NewNumberValue(float64(i))}}
	}
	for _, test := range []struct {
		name        string
		bytes, kept int
	}{
		{"many", 10, rememberedCalls},
		{"whole files", 3 << 20, 2},
		{"one that is larger than all may be", rememberedBytes + 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &recent[string]{}
			arguments := &structpb.Struct{Fields: map[string]*structpb.Value{"text": structpb.NewStringValue(string(make([]byte, test.bytes)))}}
			for range 2 { // the same results again take no more
				for i := range 100 {
					r.remember(payload(i), arguments, strconv.Itoa(i))
				}
			}
			require.Len(t, r.byKey, test.kept)
			require.Len(t, r.order, test.kept)
			require.Equal(t, "99", r.recall(payload(99)))
			require.Empty(t, r.recall(payload(0)))
		})
	}
}

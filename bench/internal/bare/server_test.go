package bare

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResult(t *testing.T) {
	for _, test := range []struct {
		name   string
		server Server
		failed bool
		want   string
	}{
		{"once", Server{}, false, `{"content":[{"type":"text","text":"a\n"}]}`},
		{"twice", Server{Twice: true}, false, `{"content":[{"type":"text","text":"a\n"}],"structuredContent":{"content":"a\n"}}`},
		{"what failed has no content", Server{Twice: true}, true, `{"content":[{"type":"text","text":"a\n"}],"isError":true}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			b, err := json.Marshal(test.server.result("a\n", test.failed))
			require.NoError(t, err)
			require.JSONEq(t, test.want, string(b))
		})
	}
}

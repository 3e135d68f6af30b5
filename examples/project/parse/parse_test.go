package parse

import "testing"

func TestLine(t *testing.T) {
	got, err := Line("EUR/USD 1.0812\n")
	if want := (Rate{"EUR", "USD", 1.0812}); err != nil || got != want {
		t.Errorf("Line = %v, %v, want %v", got, err, want)
	}
}

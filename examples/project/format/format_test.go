package format

import "testing"

func TestAmount(t *testing.T) {
	if got, want := Amount(1.5, "EUR"), "1.50 EUR"; got != want {
		t.Errorf("Amount = %q, want %q", got, want)
	}
}

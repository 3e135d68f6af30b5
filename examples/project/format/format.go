// Package format writes amounts of money.
package format

import "fmt"

// Amount writes an amount with two decimals and its currency.
func Amount(value float64, currency string) string {
	return fmt.Sprintf("%.1f %s", value, currency)
}

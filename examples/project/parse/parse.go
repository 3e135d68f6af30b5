// Package parse reads exchange rates, one "EUR/USD 1.0812" a line.
package parse

import (
	"fmt"
	"strconv"
	"strings"
)

// Rate is what one unit of From buys of To.
type Rate struct {
	From, To string
	Value    float64
}

// Line reads one line.
func Line(s string) (Rate, error) {
	pair, value, ok := strings.Cut(strings.TrimSpace(s), " ")
	if !ok {
		return Rate{}, fmt.Errorf("%q has no value", s)
	}
	from, to, ok := strings.Cut(pair, "/")
	if !ok {
		return Rate{}, fmt.Errorf("%q is not a pair of currencies", pair)
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return Rate{}, fmt.Errorf("%q is not a number", value)
	}
	return Rate{From: from, To: to, Value: v}, nil
}

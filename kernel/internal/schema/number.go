package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
)

// ParseNumber reads a number as JSON writes it; ok is false for any other text. A whole number that the wire's double
// would change is an error: rounded, an id is that of something else.
func ParseNumber(text string) (n float64, ok bool, err error) {
	n, err = strconv.ParseFloat(text, 64)
	if err != nil || !json.Valid([]byte(text)) {
		return 0, false, nil
	}
	if strings.ContainsAny(text, ".eE") {
		return n, true, nil
	}
	written, _ := new(big.Int).SetString(text, 10)
	if kept, _ := big.NewFloat(n).Int(nil); written.Cmp(kept) != 0 {
		return 0, true, fmt.Errorf("the number %s cannot be passed on exactly, it would become %s: at most 15 digits are safe", text, kept)
	}
	return n, true, nil
}

// CheckNumbers is ParseNumber's check for every number in a JSON text that has been parsed.
func CheckNumbers(text []byte) error {
	if !longNumber(text) {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if number, ok := token.(json.Number); ok {
			if _, _, err := ParseNumber(number.String()); err != nil {
				return err
			}
		}
	}
}

// longNumber reports whether a text has so many digits in a row that a number of it could be too long. Most have not,
// and need no second reading.
func longNumber(text []byte) bool {
	run := 0
	for _, c := range text {
		if c < '0' || c > '9' {
			run = 0
			continue
		}
		if run++; run > 15 {
			return true
		}
	}
	return false
}

package config

import (
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Retry says how often a call that failed for a passing reason is tried again, and how long after.
type Retry struct {
	// BaseDelay is the wait before the first retry; each further one is Factor times as long.
	BaseDelay time.Duration
	Factor    float64
	// Max is how many retries there are at most; 0 for none.
	Max int
}

// DefaultRetry is what holds without a retry block.
var DefaultRetry = Retry{BaseDelay: 500 * time.Millisecond, Factor: 2, Max: 5}

var retryNames = []string{"base_delay_ms", "backoff_factor", "max_retries"}

func (l *loader) retry(b *block) Retry {
	l.noBlocks(b)
	r := DefaultRetry
	for _, a := range sortedAttributes(b.Body) {
		switch a.Name {
		case "base_delay_ms":
			if n, ok := l.number(a, limits{least: 1, most: 60_000, whole: true}); ok {
				r.BaseDelay = time.Duration(n) * time.Millisecond
			}
		case "backoff_factor":
			if n, ok := l.number(a, limits{least: 1, most: 10}); ok {
				r.Factor = n
			}
		case "max_retries":
			if n, ok := l.number(a, limits{least: 0, most: 20, whole: true}); ok {
				r.Max = int(n)
			}
		default:
			l.fail(a.NameRange, "Unknown argument "+quoted(a.Name), "%sA retry block has %s.", didYouMean(a.Name, retryNames), list(retryNames))
		}
	}
	return r
}

// limits are what a number may be.
type limits struct {
	least, most float64
	whole       bool
}

// number reads a constant number within limits.
func (l *loader) number(a *hclsyntax.Attribute, within limits) (float64, bool) {
	v, diags := a.Expr.Value(nil)
	if diags.HasErrors() {
		l.diags = append(l.diags, diags...)
		return 0, false
	}
	kind := "a number"
	if within.whole {
		kind = "a whole number"
	}
	if v.Type() == cty.Number && v.IsKnown() && !v.IsNull() {
		n, _ := v.AsBigFloat().Float64()
		if n >= within.least && n <= within.most && (!within.whole || v.AsBigFloat().IsInt()) {
			return n, true
		}
	}
	l.fail(a.Expr.Range(), "Invalid "+a.Name, "Write %s from %g to %g.", kind, within.least, within.most)
	return 0, false
}

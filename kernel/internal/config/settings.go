package config

import (
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// LogLevels are the values of log_level, from the most to the least.
var LogLevels = []string{"trace", "debug", "info", "warn", "error"}

// Settings are what the settings block says about the kernel itself.
type Settings struct {
	// LogLevel is one of LogLevels, or empty when not set.
	LogLevel string
	// CallTimeout is the deadline of a call when the caller sets none. Zero: the operation's own.
	CallTimeout time.Duration
	// Retry has its defaults where the file says nothing.
	Retry Retry
}

var settingNames = []string{"call_timeout", "log_level", "retry"}

func (l *loader) settings(b *block) {
	for i, inner := range b.Body.Blocks {
		first := slices.IndexFunc(b.Body.Blocks, func(other *block) bool { return other.Type == "retry" })
		switch {
		case inner.Type != "retry":
			l.fail(inner.TypeRange, "Unknown block "+quoted(inner.Type), "%sThe settings are %s.", didYouMean(inner.Type, settingNames), list(settingNames))
		case i != first:
			l.fail(inner.DefRange(), "Duplicate retry", "The first one is at %s. Merge the two.", position(b.Body.Blocks[first].DefRange()))
		case l.labelled(inner, ""):
			l.project.Settings.Retry = l.retry(inner)
		}
	}
	for _, a := range sortedAttributes(b.Body) {
		switch a.Name {
		case "log_level":
			l.logLevel(a)
		case "call_timeout":
			l.callTimeout(a)
		case "retry":
			l.fail(a.NameRange, "Unexpected argument \"retry\"", "Write it as a block: retry { max_retries = 5 }.")
		default:
			l.fail(a.NameRange, "Unknown setting "+quoted(a.Name), "%sThe settings are %s.", didYouMean(a.Name, settingNames), list(settingNames))
		}
	}
}

func (l *loader) logLevel(a *hclsyntax.Attribute) {
	s, ok := l.text(a.Expr)
	if ok && !slices.Contains(LogLevels, s) {
		l.fail(a.Expr.Range(), "Unknown log level "+quoted(s), "%sThe levels are %s.", didYouMean(s, LogLevels), list(LogLevels))
	}
	l.project.Settings.LogLevel = s
}

func (l *loader) callTimeout(a *hclsyntax.Attribute) {
	s, ok := l.text(a.Expr)
	if !ok {
		return
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		l.fail(a.Expr.Range(), "Invalid duration "+quoted(s), `Write a number with a unit, such as "90s" or "5m".`)
	}
	l.project.Settings.CallTimeout = d
}

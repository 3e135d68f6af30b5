package cli

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// downloads shows how far files have come that are fetched at the same time: on a terminal a bar for each, in a log a line
// at the beginning and the end of each.
type downloads struct {
	display *display
	mu      sync.Mutex
	all     []transfer
}

type transfer struct {
	name        string
	done, total int64
}

// barWidth is that of one bar, in columns.
const barWidth = 12

func (a *app) downloads() *downloads { return &downloads{display: a.display} }

// update may be called from many goroutines, and often.
func (d *downloads) update(name string, done, total int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := slices.IndexFunc(d.all, func(t transfer) bool { return t.name == name })
	if at < 0 {
		at = len(d.all)
		d.all = append(d.all, transfer{name: name})
		d.log("downloading " + name + sized(total))
	}
	ended := d.all[at].complete()
	d.all[at].done, d.all[at].total = done, total
	if d.all[at].complete() && !ended {
		d.log("downloaded " + name + sized(done))
	}
	if d.display.err.live {
		bars := make([]string, len(d.all))
		for i, t := range d.all {
			bars[i] = t.String()
		}
		d.display.SetStatus(strings.Join(bars, "  "))
	}
}

// log writes a line where there is no bar.
func (d *downloads) log(line string) {
	if !d.display.err.live {
		d.display.Note("· " + line)
	}
}

func (d *downloads) end() { d.display.SetStatus("") }

func (t transfer) complete() bool { return t.total > 0 && t.done >= t.total }

func (t transfer) String() string {
	if t.total <= 0 {
		return t.name + sized(t.done)
	}
	share := min(1, float64(t.done)/float64(t.total))
	filled := int(share * barWidth)
	return fmt.Sprintf("%s %s%s %3.0f%%", t.name, strings.Repeat("━", filled), strings.Repeat("╌", barWidth-filled), share*100)
}

// sized is a number of bytes in brackets, nothing for none.
func sized(bytes int64) string {
	const kib, mib = 1 << 10, 1 << 20
	switch {
	case bytes <= 0:
		return ""
	case bytes < mib:
		return fmt.Sprintf(" (%.1f KiB)", float64(bytes)/kib)
	default:
		return fmt.Sprintf(" (%.1f MiB)", float64(bytes)/mib)
	}
}

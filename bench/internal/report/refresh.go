package report

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/agentco/agent/bench/internal/row"
)

// Marker is the line below which Refresh replaces a file.
const Marker = "<!-- Below this line the report of a run is written by bench -out. -->"

// Refresh writes the report of a set into a Markdown file, below its marker and with headings one deeper: what is written
// above by hand stays. A file that is not there yet begins with the marker.
func Refresh(path string, s *row.Set) error {
	above, err := split(path)
	if err != nil {
		return err
	}
	var report bytes.Buffer
	Write(&report, s)
	text := above + Marker + "\n\n" + strings.ReplaceAll(report.String(), "\n## ", "\n### ")
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Marked reports whether Refresh can write into a file, before a long run is made for it.
func Marked(path string) error {
	_, err := split(path)
	return err
}

// split is what a file has above the marker.
func split(path string) (above string, err error) {
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	above, _, found := strings.Cut(string(b), Marker+"\n")
	if !found {
		return "", fmt.Errorf("%s has no line %q, below which the report would be written: add it", path, Marker)
	}
	return above, nil
}

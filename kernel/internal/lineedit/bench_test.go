package lineedit

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// BenchmarkKey is a key in a line of some length, drawn.
func BenchmarkKey(b *testing.B) {
	for name, text := range map[string]string{
		"short": "bash.bash command='go test ./...'", "pasted file": strings.Repeat("some words of a line\n", 10_000), "wide": strings.Repeat("日本語", 1000),
	} {
		b.Run(name, func(b *testing.B) {
			l := &line{editor: &Editor{}, history: &walk{}}
			l.insert(text)
			s := &screen{out: io.Discard, prompt: "project> "}
			for b.Loop() {
				_, _ = l.press(key{insert, "x"})
				s.draw(l, func() (int, int) { return 80, 24 })
				_, _ = l.press(key{command: backspace})
			}
		})
	}
}

// BenchmarkTab is a choice in a folder of many files, drawn.
func BenchmarkTab(b *testing.B) {
	var files Completions
	for i := range 50_000 {
		files.Choices = append(files.Choices, Choice{Text: fmt.Sprintf("path=big/file-%05d.txt ", i), Label: fmt.Sprintf("file-%05d.txt", i)})
	}
	for name, first := range map[string]bool{"first": true, "next": false} {
		b.Run(name, func(b *testing.B) {
			l := &line{editor: &Editor{Complete: func(string, int) Completions { return files }}, history: &walk{}}
			s := &screen{out: io.Discard, prompt: "project> "}
			for b.Loop() {
				if first {
					l.menu = nil
				}
				_, _ = l.press(key{command: complete})
				s.draw(l, func() (int, int) { return 80, 24 })
			}
		})
	}
}

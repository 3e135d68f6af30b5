package inputs

import (
	"fmt"
	"math/rand"
	"path/filepath"
	"strings"
)

var words = strings.Fields("err ctx return func string config provider agent stream buffer handle result value index length offset request response kernel plugin session cancel deadline channel worker packet header")

func word(r *rand.Rand) string { return words[r.Intn(len(words))] }

// line looks like source, so that quotes, tabs and line ends cost what they cost in life.
func line(r *rand.Rand) string {
	w := func() string { return word(r) }
	switch r.Intn(5) {
	case 0:
		return fmt.Sprintf("\tif %s := %s(%s); %s != nil {\n", w(), w(), w(), w())
	case 1:
		return fmt.Sprintf("\t\treturn fmt.Errorf(\"%s %s: %%w\", %s)\n", w(), w(), w())
	case 2:
		return fmt.Sprintf("// %s %s the %s of a %s, and %s it.\n", w(), w(), w(), w(), w())
	case 3:
		return fmt.Sprintf("\t%s[%q] = %s.%s(%d)\n", w(), w(), w(), w(), r.Intn(1<<20))
	default:
		return fmt.Sprintf("\t%s, %s := %s.%s(%s, %s)\n", w(), w(), w(), w(), w(), w())
	}
}

func text(r *rand.Rand, n int) []byte {
	b := make([]byte, 0, n+128)
	for len(b) < n {
		b = append(b, line(r)...)
	}
	b = b[:n]
	b[n-1] = '\n'
	return b
}

// writer puts files into a source tree until it has enough of them.
type writer struct {
	random    *rand.Rand
	pool      []byte
	n, left   int
	needleAll int // every so many files one holds Needle
	err       error
}

func (w *writer) put(dir, name string) {
	if w.left == 0 || w.err != nil {
		return
	}
	size := min(200+int(w.random.ExpFloat64()*1500), 32<<10)
	at := w.random.Intn(len(w.pool) - size)
	body := w.pool[at : at+size]
	if w.n%w.needleAll == w.needleAll-1 {
		body = append([]byte(string(body)), "\n// "+Needle+" here\n"...)
	}
	w.err = write(filepath.Join(dir, name), body)
	w.n++
	w.left--
}

var extensions = []string{".js", ".js", ".js", ".d.ts", ".ts", ".json", ".md", ".map", ".mjs", ".css"}

// source is a tree of n files: one in fifty a Go file of our own services, the others packages that apps depend on.
func source(root string, n int) error {
	r := rand.New(rand.NewSource(100))
	w := &writer{random: r, pool: text(r, 4<<20), left: n, needleAll: n/4 - 1}
	for f := range n / 50 {
		dir := fmt.Sprintf("services/svc%02d/internal/%s/v%d", f/50%40, words[(f/10)%len(words)], f/10%5)
		w.put(filepath.Join(root, dir), fmt.Sprintf("%s_%d.go", words[f%len(words)], f))
	}
	for p := 0; w.left > 0 && w.err == nil; p++ {
		pkg := filepath.Join(root, fmt.Sprintf("apps/app%02d/node_modules/%s-%d", p/50, words[p%len(words)], p%50))
		w.dependency(pkg)
		if p%5 == 0 {
			w.dependency(filepath.Join(pkg, "node_modules", "nested-"+words[p%len(words)]))
		}
	}
	return w.err
}

func (w *writer) dependency(pkg string) {
	for _, dir := range []string{"", "lib", "dist/esm", "dist/cjs", "src/internal/util"} {
		for f := range 8 {
			w.put(filepath.Join(pkg, dir), fmt.Sprintf("%s%d%s", word(w.random), f, extensions[w.random.Intn(len(extensions))]))
		}
	}
}

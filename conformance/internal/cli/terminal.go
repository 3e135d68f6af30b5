package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// width is that of the terminal behind w; zero when there is none.
func width(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

// coloured reports whether w is a terminal that shows colours to somebody who wants them.
func coloured(w io.Writer) bool {
	return width(w) > 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

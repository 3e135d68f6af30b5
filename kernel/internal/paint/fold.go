package paint

import "strings"

// tabStop is how far apart the columns are that a tab goes to.
const tabStop = 8

// Fold cuts a painted line into rows of at most some columns, so that something can stand before each of them: a
// terminal would wrap it to its first column. What is styled stays so on every row. Tabs become blanks.
func Fold(line string, columns int) []string {
	f := folder{columns: columns}
	for line != "" {
		if n := strings.IndexByte(line, 'm') + 1; n > 0 && strings.HasPrefix(line, "\x1b[") {
			f.style(line[:n])
			line = line[n:]
			continue
		}
		n, w := character(line)
		if line[0] == '\t' {
			for range tabStop - f.width%tabStop {
				f.put(" ", 1)
			}
		} else {
			f.put(line[:n], w)
		}
		line = line[n:]
	}
	return append(f.rows, f.row.String())
}

type folder struct {
	columns int
	rows    []string
	row     strings.Builder
	width   int
	active  string // the style that is on
}

func (f *folder) style(sequence string) {
	f.active = sequence
	if sequence == reset {
		f.active = ""
	}
	f.row.WriteString(sequence)
}

func (f *folder) put(character string, width int) {
	if f.columns > 0 && f.width > 0 && f.width+width > f.columns {
		if f.active != "" {
			f.row.WriteString(reset)
		}
		f.rows = append(f.rows, f.row.String())
		f.row.Reset()
		f.row.WriteString(f.active)
		f.width = 0
	}
	f.row.WriteString(character)
	f.width += width
}

const reset = "\x1b[0m"

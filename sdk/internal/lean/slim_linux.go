package lean

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// slim lets go of the pages of this process's binary, and of every other file that is mapped and is the same as on the disk.
// Of a Go program far more of them are touched on the way to main than ever again, above all by the initialisation of
// packages, and the system maps the neighbours of each as well. One that is needed after all comes back from the cache of
// the system.
func slim() {
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return // the pages stay, and that is all
	}
	for _, m := range clean(smaps) {
		_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, m.start, m.end-m.start, syscall.MADV_DONTNEED)
	}
}

// mapping is a stretch of memory.
type mapping struct{ start, end uintptr }

// clean returns the mappings that are the same as a file, from what /proc/self/smaps says:
//
//	00400000-00c5f000 r-xp 00001000 fe:00 1234  /path
//	Anonymous:             0 kB
//
// One that cannot be written may still differ from its file: a linker may have written it before. Such pages are anonymous.
func clean(smaps []byte) (found []mapping) {
	var last mapping
	fixed := false
	for line := range bytes.Lines(smaps) {
		fields := bytes.Fields(line)
		switch {
		case len(fields) < 2:
		case bytes.Equal(fields[0], []byte("Anonymous:")):
			if fixed && bytes.Equal(fields[1], []byte("0")) {
				found = append(found, last)
			}
		case !bytes.HasSuffix(fields[0], []byte(":")):
			last, fixed = header(fields)
		}
	}
	return found
}

// header reads the first line of a mapping, and whether it is that of a file and private, and can only be read.
func header(fields [][]byte) (m mapping, fixed bool) {
	from, to, _ := bytes.Cut(fields[0], []byte("-"))
	start, startErr := strconv.ParseUint(string(from), 16, 64)
	end, endErr := strconv.ParseUint(string(to), 16, 64)
	if startErr != nil || endErr != nil || len(fields) < 5 {
		return mapping{}, false
	}
	mode := fields[1]
	fixed = bytes.HasPrefix(mode, []byte("r-")) && bytes.HasSuffix(mode, []byte("p")) && !bytes.Equal(fields[4], []byte("0"))
	return mapping{uintptr(start), uintptr(end)}, fixed
}

package early

import (
	"os"
	"strconv"
	"syscall"
)

// Slim lets go of the pages of this process's binary, and of every other file that is mapped and is the same as on the disk.
// Of a Go program far more of them are touched on the way to main than ever again, above all by the initialisation of
// packages, and the system maps the neighbours of each as well. One that is needed after all comes back from the cache of
// the system.
func Slim() {
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return // the pages stay, and that is all
	}
	for _, m := range clean(string(smaps)) {
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
func clean(smaps string) (found []mapping) {
	var last mapping
	fixed := false
	for len(smaps) > 0 {
		var line string
		line, smaps = cut(smaps, '\n')
		fields := Words(line)
		switch {
		case len(fields) < 2:
		case fields[0] == "Anonymous:":
			if fixed && fields[1] == "0" {
				found = append(found, last)
			}
		case fields[0][len(fields[0])-1] != ':':
			last, fixed = header(fields)
		}
	}
	return found
}

// header reads the first line of a mapping, and whether it is that of a file and private, and can only be read.
func header(fields []string) (m mapping, fixed bool) {
	from, to := cut(fields[0], '-')
	start, startErr := strconv.ParseUint(from, 16, 64)
	end, endErr := strconv.ParseUint(to, 16, 64)
	if startErr != nil || endErr != nil || len(fields) < 5 {
		return mapping{}, false
	}
	mode := fields[1]
	fixed = len(mode) == 4 && mode[:2] == "r-" && mode[3] == 'p' && fields[4] != "0"
	return mapping{uintptr(start), uintptr(end)}, fixed
}

package keeper

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// slim lets go of the pages of this binary that were touched on the way here: a keeper is
// small, but what it is started from is not. A page that is needed after all comes back
// from the file, of which the provider holds most pages anyway.
func slim() {
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return // the pages stay, and that is all
	}
	defer func() { _ = smaps.Close() }()
	for _, m := range clean(smaps) {
		_, _, _ = unix.RawSyscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED)
	}
}

// mapping is a stretch of memory.
type mapping struct{ start, end uintptr }

// clean returns the mappings that are the same as a file, from what /proc/self/smaps says:
//
//	00400000-00c5f000 r-xp 00001000 fe:00 1234  /path
//	Anonymous:             0 kB
//
// One that cannot be written may still differ from its file: a linker may have written it
// before. Such pages are anonymous.
func clean(smaps io.Reader) (found []mapping) {
	var last mapping
	fixed := false
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		var m mapping
		var mode, offset, device string
		var inode uint64
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x %s %s %s %d", &m.start, &m.end, &mode, &offset, &device, &inode); n == 6 {
			last, fixed = m, inode != 0 && strings.HasPrefix(mode, "r-") && strings.HasSuffix(mode, "p")
		} else if fixed && strings.HasPrefix(lines.Text(), "Anonymous:") && strings.Fields(lines.Text())[1] == "0" {
			found = append(found, last)
		}
	}
	return found
}

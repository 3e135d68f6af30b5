package early

import (
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A keeper ends before the packages are initialised that come after what it needs: that must be little.
func TestInitialisedEarly(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, late := range []string{"unicode", "strings", "bytes", "reflect", "fmt", "golang.org/x/sys/unix"} {
		if slices.Contains(strings.Fields(string(out)), late) {
			t.Errorf("it imports %s", late)
		}
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"none", "", nil},
		{"only blanks", " \t\n ", nil},
		{"one", "7", []string{"7"}},
		{"several", "  12  34\t56\n", []string{"12", "34", "56"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Words(c.text); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestParentIn(t *testing.T) {
	for _, c := range []struct {
		name, stat string
		want       int
		ok         bool
	}{
		{"usual", "12 (sleep) S 7 12 12", 7, true},
		{"parentheses and spaces in the name", "12 (a) S 1 (b) R 9 12", 9, true},
		{"cut off", "12 (sleep) S", 0, false},
		{"cut off in the name", "12 (sleep", 0, false},
		{"empty", "", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, ok := parentIn(afterName(c.stat)); got != c.want || ok != c.ok {
				t.Error(got, ok)
			}
		})
	}
}

// Whether a system can be asked for the children of a process or not, what is found is the same.
func TestBothWaysToFindChildrenAgree(t *testing.T) {
	sleeper := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	want := []int{sleeper.Process.Pid}
	if got := childrenByTask(os.Getpid()); !reflect.DeepEqual(got, want) {
		t.Error("by task", got)
	}
	if got := childrenByScan()(os.Getpid()); !reflect.DeepEqual(got, want) {
		t.Error("by scan", got)
	}
	var walked []int
	Walk(os.Getpid(), func(pid int) { walked = append(walked, pid) })
	if !reflect.DeepEqual(walked, want) {
		t.Error("walked", walked)
	}
	if err := sleeper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := AwaitExit(AnyChild); err != nil {
		t.Error(err)
	}
	if state := Stat(want[0]); len(state) == 0 || state[0] != "Z" {
		t.Error("it is left to be reaped, and is", state)
	}
	if err := AwaitExit(want[0]); err != nil {
		t.Error(err)
	}
	_ = sleeper.Wait() // it was killed
	if got := childrenByTask(os.Getpid()); len(got) > 0 {
		t.Error(got)
	}
	if err := AwaitExit(AnyChild); err == nil {
		t.Error("there is a child to wait for")
	}
}

func TestSessionOf(t *testing.T) {
	ours, err := SessionOf(0)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := SessionOf(os.Getpid()); same != ours || err != nil {
		t.Error(same, err)
	}
}

func TestCleanMappings(t *testing.T) {
	const smaps = `00400000-00c5f000 r-xp 00001000 fe:00 1234  /path
Rss:                1000 kB
Anonymous:             0 kB
00c5f000-00c60000 r--p 00001000 fe:00 1234  /path of a linker that wrote
Anonymous:             4 kB
00c60000-00c61000 rw-p 00001000 fe:00 1234  /path
Anonymous:             0 kB
00c61000-00c62000 r--s 00001000 fe:00 1234  /shared
Anonymous:             0 kB
7f000000-7f001000 r--p 00000000 00:00 0
Anonymous:             0 kB
7f001000-7f002000 r-xp 00000000 00:00 0  [vdso]
Anonymous:             0 kB
7f002000-7f003000 r--p 00000000 fe:00 99  /a name/with r-xp in it
Anonymous:             0 kB
VmFlags: rd ex

nonsense
`
	if got, want := clean(smaps), []mapping{{0x400000, 0xc5f000}, {0x7f002000, 0x7f003000}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%x", got)
	}
	if got := clean(""); len(got) > 0 {
		t.Error(got)
	}
}

// What is let go is not held any more, and comes back: this test goes on.
func TestSlim(t *testing.T) {
	before := filePages(t)
	Slim()
	if after := filePages(t); after >= before {
		t.Errorf("%d KiB before, %d after", before, after)
	}
	Slim()
}

// filePages is what this process holds of files, in KiB.
func filePages(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	size := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(status)
	if size == nil {
		t.Fatalf("%s", status)
	}
	pages, err := strconv.Atoi(string(size[1]))
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func BenchmarkSlim(b *testing.B) {
	for b.Loop() {
		Slim()
	}
}

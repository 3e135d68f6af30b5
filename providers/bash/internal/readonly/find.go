package readonly

import (
	"regexp"
	"sync"
)

// The tests and actions of find that neither change a file nor run a program, by how many
// words follow them.
var findTests = map[int]string{
	0: "( ) ! , -a -and -o -or -not -true -false -print -print0 -ls -quit -prune -depth -d -empty -readable -writable -executable " +
		"-nouser -nogroup -follow -mount -xdev -daystart -noleaf -warn -nowarn -ignore_readdir_race -noignore_readdir_race",
	1: "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -mmin -atime -amin -ctime " +
		"-cmin -newer -anewer -cnewer -perm -user -group -uid -gid -links -inum -samefile -maxdepth -mindepth -printf -lname -ilname " +
		"-fstype -used",
}

var newerThan = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-newer[aBcm][aBcmt]$`) })

func findArity(word string) (int, bool) {
	for n, tests := range findTests {
		if among(tests, word) {
			return n, true
		}
	}
	return 1, newerThan().MatchString(word)
}

func (j *judge) find(words []word) ([]word, error) {
	i := 1
	for i < len(words) && words[i].is("-H", "-L", "-P", "-O0", "-O1", "-O2", "-O3") {
		i++
	}
	for i < len(words) && tame().MatchString(words[i].text) {
		i++ // where to begin
	}
	for ; i < len(words); i++ {
		w := words[i]
		if w.open {
			return nil, w.refuse("it may become an action, as a file can be called -delete; quote it, or write ./ before it")
		}
		n, ok := findArity(w.text)
		switch {
		case !ok:
			return nil, w.refuse("it is not known to only look for files; leave it out or use bash")
		case i+n >= len(words):
			return nil, w.refuse("its value is missing")
		case n == 1 && words[i+1].open:
			return nil, words[i+1].refuse("it may become several words, one of them an action; quote it")
		}
		i += n
	}
	return words, nil
}

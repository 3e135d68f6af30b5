package readonly

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed commands.txt
var commandsText string

// entry is a line of the list.
type entry struct {
	anything bool
	operands int             // how many there may be; -1 for any number
	options  map[string]need // "-k" or "--key"
	inserts  []string
	noFiles  bool // no @file, from which a program would read options
}

// need is whether an option takes a value.
type need int

const (
	never   need = iota + 1
	maybe        // only if it is attached
	always       // attached, or else the next word
	letters = "-"
)

// list is commands.txt by name; of Git, by name and subcommand.
var list = sync.OnceValue(func() map[string]entry {
	sets, all := map[string][]string{}, map[string]entry{}
	for line := range strings.Lines(commandsText) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		if strings.HasPrefix(fields[0], "@") {
			sets[fields[0]] = fields[1:]
			continue
		}
		name := 1
		for name < len(fields) && plainName(fields[name]) {
			name++
		}
		e := entry{operands: -1, options: map[string]need{}}
		e.read(fields[name:], sets)
		all[strings.Join(fields[:name], " ")] = e
	}
	return all
})

func (e *entry) read(tokens []string, sets map[string][]string) {
	for _, token := range tokens {
		switch {
		case token == "*":
			e.anything = true
		case token == "!@":
			e.noFiles = true
		case strings.HasPrefix(token, "<"):
			limit, _ := strconv.Atoi(token[1:])
			e.operands = limit - 1
		case strings.HasPrefix(token, "@"):
			e.read(sets[token], nil)
		case strings.HasPrefix(token, "+"):
			e.inserts = append(e.inserts, token[1:])
		default:
			e.option(token)
		}
	}
}

func (e *entry) option(token string) {
	takes := never
	switch {
	case strings.HasSuffix(token, "[="), strings.HasSuffix(token, "["):
		token, takes = strings.TrimRight(token, "[="), maybe
	case strings.HasSuffix(token, "="), strings.HasSuffix(token, ":"):
		token, takes = token[:len(token)-1], always
	}
	if strings.HasPrefix(token, "--") {
		e.options[token] = takes
		return
	}
	for _, letter := range strings.TrimPrefix(token, letters) {
		e.options[letters+string(letter)] = takes
	}
}

// runners run what they are given, or code that they read from somewhere.
const runners = ". alias ash awk bash builtin busybox chroot command coproc csh dash doas emacs env eval exec expect fish " +
	"flock gawk ionice ksh less lua make man mawk more nawk nice node nodejs nohup nsenter parallel perl php pkexec " +
	"python python2 python3 rlwrap ruby runuser script setsid sh source ssh start-stop-daemon stdbuf strace su sudo " +
	"systemd-run tclsh tcsh time timeout trap unshare vi view vim watch xargs zsh"

func runsOthers(name string) bool { return among(runners, name) }

// among reports whether a word is in a list of words.
func among(words, word string) bool { return slices.Contains(strings.Fields(words), word) }

// unknown says why a command is refused that is not on the list.
func unknown(name string) string {
	switch {
	case strings.Contains(name, "/"):
		return "commands are called by their name alone; leave the directory away, or use bash"
	case among("less more man vi vim view nano emacs", name):
		return "it is for a person at a terminal; use cat, head or grep"
	case runsOthers(name):
		return "it runs other programs or code, which are not looked into; call what it would run, or use bash"
	case among("curl wget nc ncat telnet ftp scp rsync ssh dig nslookup ping", name):
		return "it talks to the network; use bash"
	case among("rm rmdir mv cp ln mkdir touch chmod chown chgrp truncate dd tee install shred split csplit patch unlink mkfifo mktemp rename kill pkill killall", name):
		return "it changes something; use bash, or a tool that writes files"
	default:
		return "it is not on the list of commands that only read (read_commands of the configuration adds to it); use bash"
	}
}

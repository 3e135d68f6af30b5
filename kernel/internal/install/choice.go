package install

import "github.com/agentco/agent/kernel/internal/lock"

// Choice is what became of one provider, and why.
type Choice struct {
	Want
	// Locked is its entry in the lock file. Of a dry run, it is what the entry would be.
	Locked lock.Provider
	// Previous is the version that was locked before; empty when there was none.
	Previous string
	// Why says in a few words how the version came about.
	Why string
	// From is "cache", or where the release was found: the host of a forge or the address of a mirror.
	From string
	// Verified says what the files were verified by.
	Verified string
	// Warnings are what a person should know about it.
	Warnings []string
}

// Result is what an Installer did.
type Result struct {
	// Choices are in the order of the wants.
	Choices []Choice
	// Unused are the names in the lock file that nothing requires: dropped, or with a lock file that is only read, kept.
	Unused []string
	// LockWritten is set when the lock file was changed, or in a dry run would be.
	LockWritten bool
}

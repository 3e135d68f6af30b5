// Package session keeps what happened: one SQLite file a session, which nothing but `agent session prune` deletes.
//
//	Log (one writer)  ──►  sessions/<ULID>.sqlite-tail  ──►  <ULID>.sqlite  ──►  File (readers): events, output, verify, salvage
//	                       sessions/<ULID>.lock              held while the writer lives
//
// What is waited for is written to the tail, by who waits, in one write(2) with all that was queued before it. A goroutine
// takes it into the database a moment later, many calls at once, and readers take in what that has not done yet: by its
// number each row is there once, whoever takes it in. What Receipt.Wait has acknowledged survives the death of the
// process, by SIGKILL too. When the machine itself dies, the last moments may be missing, but the file is whole. An ended
// session is its database alone. It is the only package that imports the database.
package session

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// Status is how a session stands.
type Status string

// Every way a session stands.
const (
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
	// Denied is one whose command ended since a call of it was not allowed.
	Denied Status = "denied"
	// Interrupted is a session that says running in its file and has no process any more. No file holds it.
	Interrupted Status = "interrupted"
)

// Meta is what a session says of itself.
type Meta struct {
	// ID is the ULID of the session, and the name of its file.
	ID string
	// Parent is the session that started this one; empty for none. Depth counts the ancestors.
	Parent string
	Depth  int
	// Profile is the agent_profile in force; empty for none.
	Profile string
	Status  Status
	Started time.Time
	// Ended is zero while the session runs, and when it was interrupted.
	Ended time.Time
	// Command is how the session came to be, such as "invoke" or "mcp".
	Command string
	// Project is the folder of agent.hcl.
	Project string
}

// Producer is who an event comes from.
type Producer struct {
	// Category is "tool" or "slashcommand" for a provider, "kernel" for the kernel itself.
	Category string
	// Name is that in agent.hcl.
	Name    string
	Version string
	// Source is the address that the build gives of itself; it is kept with the producer, not with each event.
	Source string
}

// Kind is what an event records, in the words of kernel.v1.EventKind, lower case and without the prefix.
type Kind string

// The kinds the kernel itself writes.
const (
	ToolCall   Kind = "tool_call"
	ToolResult Kind = "tool_result"
	Plan       Kind = "plan"
	Apply      Kind = "apply"
)

// SchemaVersion is the version of the payloads the kernel writes.
const SchemaVersion = "1"

// Event is one row of the log. Its payload is a message of event.v1, which the log does not look into.
type Event struct {
	// Sequence is the only order. It is given by the log.
	Sequence int64
	ID       string
	Time     time.Time
	Kind     Kind
	Producer Producer
	// SchemaVersion is that of the payload.
	SchemaVersion string
	Payload       []byte
	// Hash chains the event to the one before; see the documentation of Chain.
	Hash []byte
}

// PlanItem is a row that finds an item of a plan event without decoding it.
type PlanItem struct {
	EventSequence int64
	TurnID        string
	CallID        string
	Provider      string
	Tool          string
	Decision      string
	DecidedBy     string
}

// Output is what a call printed, as it came, or that some of it was not kept.
type Output struct {
	CallID string
	Time   time.Time
	// Stream is Stdout or Stderr.
	Stream string
	Data   []byte
	// Skipped is how many bytes are missing here. Data is empty then, and Stream too.
	Skipped int64
}

// The streams of output.
const (
	Stdout = "stdout"
	Stderr = "stderr"
)

// pathID is the id that the name of a file says.
func pathID(path string) string { return strings.TrimSuffix(filepath.Base(path), extension) }

func isID(text string) bool {
	_, err := ulid.ParseStrict(text)
	return err == nil
}

// idTime is when an id was made.
func idTime(id string) time.Time {
	parsed, err := ulid.ParseStrict(id)
	if err != nil {
		return time.Time{}
	}
	return parsed.Timestamp()
}

package release

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ear is a Reporter that remembers, and can act on what it hears.
type ear struct {
	status []string
	notes  []string
	stdout bytes.Buffer
	on     func(heard string)
}

func (e *ear) Write(p []byte) (int, error) {
	n, err := e.stdout.Write(p)
	e.hear(string(p))
	return n, err
}

func (e *ear) hear(s string) {
	if e.on != nil {
		e.on(s)
	}
}

func (e *ear) reporter() Reporter {
	return Reporter{
		Status: func(m string) { e.status = append(e.status, m); e.hear(m) },
		Stdout: e,
		Report: func(n string) { e.notes = append(e.notes, n) },
	}
}

var settings = Settings{Changelog: "CHANGELOG.md", TagPrefix: "v", TagMessage: "Release {version}", CommitMessage: "Release {version}"}

func prepare(t *testing.T, r *gittest.Repo, commit bool) *Plan {
	t.Helper()
	s := settings
	s.Commit = commit
	p, err := Prepare(t.Context(), s, Request{Dir: r.Dir, Version: "1.4.0", Now: time.Now()})
	require.NoError(t, err)
	return p
}

func sequenceOf(p *Plan) sequence { return p.sequence(p.record(), &Result{Commit: p.Head}) }

// An undo that fails is said, with what still stands, and the others go on.
func TestFailureOfTheWayBack(t *testing.T) {
	r := gittest.New(t)
	p := prepare(t, r, true)
	before := r.Read("CHANGELOG.md")
	seq := sequenceOf(p)
	seq.steps[2].undo = func(context.Context) error { return errors.New("branch is locked") }
	seq.steps[3].run = func(context.Context) error { return errors.New("disk full") }
	var e ear
	err := seq.take(t.Context(), e.reporter())
	require.ErrorContains(t, err, "disk full")
	require.ErrorContains(t, err, "changelog committed and still so (branch is locked)")
	require.Equal(t, before, r.Read("CHANGELOG.md"))
}

// A cancel is heard between any two steps. The report says what stands, and that is what stands.
func TestCancelBetweenAllSteps(t *testing.T) {
	tests := []struct {
		name   string
		commit bool
		hear   string // the cancel comes when this is heard
		note   string
		tag    bool // stands
		whole  bool // all of it stands
	}{
		{"tag first, before", false, "", "release cancelled before anything was written", false, false},
		{"tag first, while tagging", false, "tagging v1.4.0", "tag created; changelog rewrite cancelled before it ran", true, false},
		{"tag first, after the tag", false, "Created tag v1.4.0\n", "tag created; changelog rewrite cancelled before it ran", true, false},
		{"tag first, while rewriting", false, "rewriting CHANGELOG.md", "tag created; changelog rewrite cancelled before it ran", true, false},
		{"commit, before", true, "", "release cancelled before anything was written", false, false},
		{"commit, while rewriting", true, "rewriting CHANGELOG.md", "release cancelled before anything was written", false, false},
		{"commit, while committing", true, "committing CHANGELOG.md", "release cancelled before its commit; changelog rewrite was undone and nothing of it stands", false, false},
		{"commit, after the commit", true, "Committed CHANGELOG.md\n", "release cancelled before its tag; changelog rewrite, commit was undone and nothing of it stands", false, false},
		{"commit, too late", true, "Created tag v1.4.0\n", "the cancel came too late: changelog rewritten, changelog committed, tag created", true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := gittest.New(t)
			p := prepare(t, r, tt.commit)
			before := r.Snapshot()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			e := ear{on: func(heard string) {
				if heard == tt.hear {
					cancel()
				}
			}}
			if tt.hear == "" {
				cancel()
			}
			_, err := p.Run(ctx, e.reporter())
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, []string{tt.note}, e.notes)
			require.Equal(t, tt.tag, r.Git("tag", "-l", "v1.4.0") != "")
			switch {
			case tt.whole:
				require.Equal(t, string(p.After), r.Read("CHANGELOG.md"))
			case tt.tag:
				require.Equal(t, string(p.Before()), r.Read("CHANGELOG.md"))
			default:
				require.Equal(t, before, r.Snapshot())
			}
		})
	}
}

// A cancel during a commit ends a hook that hangs, and nothing stands.
func TestCancelDuringAHook(t *testing.T) {
	r := gittest.New(t)
	r.Hook("pre-commit", "echo waiting >.git/waiting; sleep 600")
	p := prepare(t, r, true)
	before := r.Snapshot()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer cancel()
		deadline := time.Now().Add(time.Minute)
		for time.Now().Before(deadline) { // a hook of git's cannot call back
			if r.Exists(".git/waiting") {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	var e ear
	_, err := p.Run(ctx, e.reporter())
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"release cancelled before its commit; changelog rewrite was undone and nothing of it stands"}, e.notes)
	after := r.Snapshot()
	delete(after, ".git/waiting")
	require.Equal(t, before, after)
}

// A deadline is a failure: it undoes the tag too.
func TestDeadlineUndoes(t *testing.T) {
	r := gittest.New(t)
	p := prepare(t, r, false)
	before := r.Snapshot()
	ctx, cancel := context.WithDeadlineCause(t.Context(), time.Now().Add(time.Hour), nil)
	defer cancel()
	late := &expired{Context: ctx}
	e := ear{on: func(heard string) { late.over = late.over || heard == "Created tag v1.4.0\n" }}
	_, err := p.Run(late, e.reporter())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, before, r.Snapshot())
}

// expired is a context whose deadline passes when the test says so.
type expired struct {
	context.Context
	over bool
}

func (e *expired) Err() error {
	if e.over {
		return context.DeadlineExceeded
	}
	return e.Context.Err()
}

// Somebody else edits the changelog or moves the branch after the check: their work stands, ours does not.
func TestOthersMeanwhile(t *testing.T) {
	t.Run("changelog", func(t *testing.T) {
		r := gittest.New(t)
		p := prepare(t, r, false)
		r.Write("CHANGELOG.md", "theirs")
		before := r.Snapshot()
		_, err := p.Run(t.Context(), new(ear).reporter())
		require.ErrorContains(t, err, "changed by someone else")
		require.Equal(t, before, r.Snapshot())
	})
	t.Run("branch", func(t *testing.T) {
		r := gittest.New(t)
		p := prepare(t, r, true)
		r.Git("commit", "-q", "--allow-empty", "-m", "theirs")
		before := r.Snapshot()
		_, err := p.Run(t.Context(), new(ear).reporter())
		require.ErrorContains(t, err, "HEAD moved")
		require.Equal(t, before, r.Snapshot())
	})
	t.Run("tag", func(t *testing.T) {
		r := gittest.New(t)
		p := prepare(t, r, false)
		r.Git("tag", "v1.4.0")
		before := r.Snapshot()
		_, err := p.Run(t.Context(), new(ear).reporter())
		require.ErrorContains(t, err, "nothing of it stands")
		require.Equal(t, before, r.Snapshot())
	})
}

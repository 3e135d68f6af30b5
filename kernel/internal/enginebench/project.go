package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
	"github.com/oklog/ulid/v2"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/catalogue"
	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/session"
	"github.com/agentco/agent/kernel/internal/session/journal"
	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
)

// bench is a project with its providers started and one session with them, or a folder of sessions alone.
type bench struct {
	options engine.Options
	engine  *engine.Engine
	session *engine.Session
	id      string
	kept    *journal.Journal
	folder  string
}

// open reads the project of the working directory and starts all its providers.
func open(ctx context.Context) (*bench, error) {
	options, err := optionsHere()
	if err != nil {
		return nil, err
	}
	b := &bench{options: options, folder: sessions()}
	if b.engine, err = engine.Open(ctx, options); err != nil {
		if b.engine != nil {
			b.engine.Close()
		}
		return nil, err
	}
	b.id = ulid.Make().String()
	log, err := session.NewLog(b.folder, session.Meta{ID: b.id, Command: "bench", Project: options.ProjectRoot}, nil)
	if err != nil {
		b.engine.Close()
		return nil, err
	}
	b.kept = journal.New(log, journal.Options{SessionID: b.id, WorkingDir: options.WorkingDir})
	b.session = b.begin("")
	return b, nil
}

// begin begins a session in a folder, kept in the one log; empty for that of the project.
func (b *bench) begin(dir string) *engine.Session {
	return b.engine.Session(engine.SessionOptions{ID: b.id, Journal: b.kept, Approver: gate.ApproveAll("bench"), WorkingDir: dir})
}

// sessions is the folder in which agent keeps them.
func sessions() string { return filepath.Join(xdg.StateHome, "agent", "sessions") }

func (b *bench) close() {
	if b.engine == nil {
		return
	}
	b.engine.Close()
	_ = b.kept.Close(session.Completed)
}

// optionsHere are those that agent would open an engine with.
func optionsHere() (engine.Options, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return engine.Options{}, err
	}
	file, err := config.Find(cwd)
	if err != nil {
		return engine.Options{}, err
	}
	scope := config.Scope{Cwd: cwd, LookupEnv: os.LookupEnv}
	p, err := config.Load(file, file, scope)
	if err != nil {
		return engine.Options{}, err
	}
	global, err := config.LoadGlobal(config.GlobalPath(), scope)
	if err != nil {
		return engine.Options{}, err
	}
	o := engine.Options{Policies: p.Policies, Catalogue: catalogue.Default(), ProjectRoot: p.Root, WorkingDir: cwd}
	for _, pr := range p.Providers {
		path := global.DevOverrides[pr.Name]
		if path == "" {
			return engine.Options{}, fmt.Errorf("provider %q has no path in dev_overrides of %s", pr.Name, global.File)
		}
		o.Providers = append(o.Providers, engine.ProviderSpec{Name: pr.Name, Path: path,
			Config: func(s *configv1.ConfigSchema) (*structpb.Struct, error) { return pr.Decode(s) }})
	}
	return o, nil
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
)

// check serves the modules from a proxy of files and builds from it what users would: agent by `go install`, and
// every other module by itself.
func (r *release) check() error {
	proxy := filepath.Join(r.temp, "proxy")
	for _, m := range r.modules {
		if err := r.serve(proxy, m); err != nil {
			return fmt.Errorf("%s: %w", m.dir, err)
		}
	}
	of, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		return err
	}
	cache, others, _ := strings.Cut(strings.TrimSpace(string(of)), "\n")
	downloaded := filepath.Join(cache, "cache", "download")
	env := append(os.Environ(),
		"GOWORK=off", "GOFLAGS=-modcacherw", "CGO_ENABLED=0", "GOBIN="+filepath.Join(r.temp, "bin"),
		"GOMODCACHE="+filepath.Join(r.temp, "cache"),
		"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(downloaded)+","+others,
		"GOSUMDB=off",
	)
	for _, m := range r.modules {
		target := m.path() + "/...@" + m.version
		cmd := exec.Command("go", "install", target)
		cmd.Dir, cmd.Env = r.temp, env
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go install %s: %w\n%s", target, err, out)
		}
		// As the main module, so that its own go.sum has to be whole.
		cmd = exec.Command("go", "build", "-mod=readonly", "-o", os.DevNull, "./...")
		cmd.Dir, cmd.Env = filepath.Join(r.tree(), filepath.FromSlash(m.dir)), env
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s by itself: %w\n%s", m.dir, err, out)
		}
		fmt.Printf("%s builds\n", m.tag())
	}
	return nil
}

// serve lays a module out as a module proxy does.
func (r *release) serve(proxy string, m moduleAt) error {
	escaped, err := module.EscapePath(m.path())
	if err != nil {
		return err
	}
	dir := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	gomod, err := r.goMod(m)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(r.zip(m))
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": m.version, "Time": time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{
		"list": []byte(m.version + "\n"), m.version + ".mod": gomod, m.version + ".zip": content, m.version + ".info": info,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

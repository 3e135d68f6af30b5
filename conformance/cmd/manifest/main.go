// Command manifest writes the manifest of a provider's release: what the provider says of itself, and the platforms it is
// released for. Whoever looks at a release learns from it what an archive holds, without running what is in there.
//
//	manifest -platform linux_amd64 -platform darwin_arm64 ./provider-x > provider-x_1.2.3_manifest.json
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/agentco/agent/conformance/client"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// patience is how long a provider has for its start and its answers.
const patience = time.Minute

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "manifest:", err)
		}
		os.Exit(2)
	}
}

// manifest is what is written.
type manifest struct {
	// Format is 1.
	Format int `json:"format"`
	// Name is that of the binary, which is the beginning of the names of its archives.
	Name string `json:"name"`
	// Version is without a leading v.
	Version   string    `json:"version"`
	Source    string    `json:"source"`
	Serves    []service `json:"serves"`
	Platforms []string  `json:"platforms"`
}

// service is one category that the provider serves.
type service struct {
	Category        string `json:"category"`
	ProtocolVersion uint32 `json:"protocol_version"`
}

// platforms are OS_ARCH, as in the names of archives.
type platforms []string

var platform = regexp.MustCompile(`^[a-z0-9]+_[a-z0-9]+$`)

func (p *platforms) String() string { return fmt.Sprint(*p) }

func (p *platforms) Set(s string) error {
	if !platform.MatchString(s) {
		return fmt.Errorf("%q is not OS_ARCH, such as linux_amd64", s)
	}
	*p = append(*p, s)
	return nil
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	flags := flag.NewFlagSet("manifest", flag.ContinueOnError)
	flags.SetOutput(log)
	var on platforms
	flags.Var(&on, "platform", "`OS_ARCH` that the provider is released for; may be repeated")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 || len(on) == 0 {
		return errors.New("usage: manifest -platform OS_ARCH … PROVIDER")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	m, err := ask(ctx, flags.Arg(0), log)
	if err != nil {
		return err
	}
	slices.Sort(on)
	m.Platforms = slices.Compact(on)
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(m)
}

// ask has a provider describe itself in every category.
func ask(ctx context.Context, path string, log io.Writer) (manifest, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return manifest{}, err
	}
	p, err := client.Launch(ctx, client.Options{Path: path, Stderr: log})
	if err != nil {
		return manifest{}, err
	}
	defer p.Close()
	m := manifest{Format: 1, Name: filepath.Base(path)}
	describers := []func() (*commonv1.ProducerRef, error){
		func() (*commonv1.ProducerRef, error) {
			r, err := p.Tools.Describe(ctx, &toolv1.DescribeRequest{})
			return r.GetProducer(), err
		},
		func() (*commonv1.ProducerRef, error) {
			r, err := p.Commands.Describe(ctx, &slashcommandv1.DescribeRequest{})
			return r.GetProducer(), err
		},
	}
	for _, describe := range describers {
		producer, err := describe()
		if status.Code(err) == codes.Unimplemented {
			continue
		}
		if err != nil {
			return manifest{}, fmt.Errorf("%s does not describe itself: %w", path, err)
		}
		if err := m.add(producer); err != nil {
			return manifest{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	if len(m.Serves) == 0 {
		return manifest{}, fmt.Errorf("%s serves nothing", path)
	}
	return m, nil
}

func (m *manifest) add(p *commonv1.ProducerRef) error {
	if p.GetVersion() == "" {
		return errors.New("it has no version: build it with one")
	}
	if len(m.Serves) > 0 && (m.Version != p.GetVersion() || m.Source != p.GetSource()) {
		return fmt.Errorf("it says it is %s %s, and %s %s", m.Source, m.Version, p.GetSource(), p.GetVersion())
	}
	m.Version, m.Source = p.GetVersion(), p.GetSource()
	m.Serves = append(m.Serves, service{Category: categories[p.GetCategory()], ProtocolVersion: p.GetProtocolVersion()})
	return nil
}

var categories = map[commonv1.Category]string{
	commonv1.Category_CATEGORY_TOOL:         "tool",
	commonv1.Category_CATEGORY_SLASHCOMMAND: "slashcommand",
}

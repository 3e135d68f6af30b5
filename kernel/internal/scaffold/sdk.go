package scaffold

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// SDK is the SDK that a provider is built with: a release or a checkout.
type SDK struct {
	// Version of a release, without a leading v; empty for a checkout.
	Version string
	// Checkout is the path of this project's repository, as the go.mod of the provider names it; empty for a release.
	Checkout string
}

var (
	release = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`) })
	unusual = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9_./:@%+~-]`) })
)

// Released is the SDK released together with a build of agent. ok is false when the build is no release:
// what stands behind a dash is of a snapshot, or of a commit between two tags.
func Released(build string) (s SDK, ok bool) {
	if !release().MatchString(build) {
		return SDK{}, false
	}
	return SDK{Version: build}, true
}

// Module is the path of a module in the checkout, in quotes where go.mod and a shell need them.
func (s SDK) Module(folder string) string {
	path := s.Checkout + "/" + folder
	if unusual().MatchString(path) {
		return strconv.Quote(path)
	}
	return path
}

// modules are the modules of a checkout that a provider needs, by folder.
var modules = []string{"sdk", "proto", "conformance"}

// FromCheckout takes the SDK from a checkout of this project's repository, or from the sdk folder in one. dir is made
// absolute.
func FromCheckout(dir string) (SDK, error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return SDK{}, err
	}
	for _, root := range []string{at, filepath.Dir(at)} {
		if isCheckout(root) {
			return SDK{Checkout: filepath.ToSlash(root)}, nil
		}
	}
	return SDK{}, fmt.Errorf("%s is no checkout of github.com/agentco/agent: it has no sdk/go.mod, proto/go.mod and conformance/go.mod of it", dir)
}

// FindCheckout looks for a checkout in dir and above it.
func FindCheckout(dir string) (SDK, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return SDK{}, err
	}
	for at := start; ; at = filepath.Dir(at) {
		if isCheckout(at) {
			return SDK{Checkout: filepath.ToSlash(at)}, nil
		}
		if at == filepath.Dir(at) {
			return SDK{}, errors.New("there is no checkout of github.com/agentco/agent in " + start + " or above it")
		}
	}
}

func isCheckout(dir string) bool {
	for _, module := range modules {
		text, err := os.ReadFile(filepath.Join(dir, module, "go.mod"))
		if err != nil {
			return false
		}
		first, _, _ := strings.Cut(string(text), "\n")
		if strings.TrimSpace(first) != "module github.com/agentco/agent/"+module {
			return false
		}
	}
	return true
}

package scaffold

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"text/template"

	"github.com/hashicorp/hcl/v2/hclwrite"
)

// Project is the agent.hcl of a project that has none yet: the providers of this repository, held to the project's folder.
// Nothing in it lets a change through unasked.
type Project struct {
	// Build is the version of agent. A release asks for the providers that were released with it, or newer ones that fit;
	// any other build for the newest there are.
	Build string
	// Repository says that the project is a git repository, and so can be released.
	Repository bool
}

// projectFile is what a project is known by.
const projectFile = "agent.hcl"

// Providers are the names of the providers that it asks for.
func (p Project) Providers() []string {
	names := []string{"filesystem", "bash"}
	if p.Repository {
		names = append(names, "release-tools")
	}
	return names
}

// Constraint is what the version of a provider is held to; empty for any.
func (p Project) Constraint() string {
	if sdk, ok := Released(p.Build); ok {
		return "~> " + sdk.Version
	}
	return ""
}

// Config is the text of agent.hcl.
func (p Project) Config() ([]byte, error) {
	t, err := template.New("project.hcl.tmpl").Delims("<<", ">>").Option("missingkey=error").ParseFS(templates, "templates/project.hcl.tmpl")
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := t.Execute(&text, p); err != nil {
		return nil, err
	}
	return hclwrite.Format(text.Bytes()), nil
}

// Write writes agent.hcl into dir, which must exist, and gives its path. When there is one already it is an
// [*ExistsError]; after any error nothing is left.
func (p Project) Write(dir string) (string, error) {
	text, err := p.Config()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, projectFile)
	err = create(path, text)
	if errors.Is(err, fs.ErrExist) {
		return "", &ExistsError{Dir: dir, Names: []string{projectFile}}
	}
	return path, err
}

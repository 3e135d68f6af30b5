package assistant

import "slices"

// Scope is for whom a client starts a server.
type Scope string

// The scopes, of which a client can lack one.
const (
	Project Scope = "project" // whoever works in the project with that client
	User    Scope = "user"    // this person, in every project
)

// Client is a coding assistant with a configuration file.
type Client struct {
	// Name is what it is called on the command line, Title what its makers call it.
	Name, Title string
	// Scopes are those it has, the first of which is the default.
	Scopes []Scope
	// Then says what a person does after the file has been written.
	Then string

	format format
	file   func(Places, Scope) string
	// hooks is a folder with more that the client runs, where that is not the folder of file; nil when there is none.
	hooks func(Places, Scope) string
	// command is the client's own way to the same entry; nil when it has none.
	command func(Entry, Scope) []string
}

// format is how a kind of file is edited.
type format interface {
	// edit puts an entry into a file's content. What comes back says the same as before, but for the entry.
	edit(content []byte, e Entry, force bool) ([]byte, error)
	// snippet is the entry by itself, with what has to be around it.
	snippet(e Entry) string
}

// Clients are all that are known.
func Clients() []*Client {
	both, mine := []Scope{Project, User}, []Scope{User, Project}
	stdio := [2]string{"type", "stdio"}
	servers := jsonFormat{key: "mcpServers", kind: stdio}
	return []*Client{
		{Name: "claude", Title: "Claude Code", Scopes: both, format: servers, file: claudeFile, hooks: claudeHooks, command: claudeCommand,
			Then: "Start claude in the project: it asks once whether the server may be used, and /mcp shows it."},
		{Name: "claude-desktop", Title: "Claude Desktop", Scopes: []Scope{User}, format: jsonFormat{key: "mcpServers"}, file: desktopFile,
			Then: "Quit Claude Desktop and start it again."},
		{Name: "codex", Title: "Codex", Scopes: mine, format: tomlFormat{key: "mcp_servers", timeout: longestCall}, file: codexFile, command: codexCommand,
			Then: "Start codex again; /mcp shows the server. A file in a project counts once the project is trusted."},
		{Name: "gemini", Title: "Gemini CLI", Scopes: both, format: jsonFormat{key: "mcpServers"}, file: dotFile(".gemini", "settings.json"),
			Then: "Start gemini again; /mcp shows the server."},
		{Name: "vscode", Title: "VS Code", Scopes: both, format: jsonFormat{key: "servers", kind: stdio}, file: codeFile,
			Then: "Choose Start above the entry in the file; its tools are then in the list of the chat's agent mode."},
		{Name: "cursor", Title: "Cursor", Scopes: both, format: servers, file: dotFile(".cursor", "mcp.json"),
			Then: "Enable the server in Cursor's settings, under MCP."},
		{Name: "zed", Title: "Zed", Scopes: mine, format: jsonFormat{key: "context_servers", kind: [2]string{"source", "custom"}}, file: zedFile, // which older versions want
			Then: "The agent panel's settings show the server, with a green dot."},
	}
}

// Find returns the client of a name; nil when there is none.
func Find(name string) *Client {
	clients := Clients()
	if i := slices.IndexFunc(clients, func(c *Client) bool { return c.Name == name }); i >= 0 {
		return clients[i]
	}
	return nil
}

// Has reports whether the client has a scope.
func (c *Client) Has(s Scope) bool { return slices.Contains(c.Scopes, s) }

// File is where the client keeps its servers of a scope that it has.
func (c *Client) File(p Places, s Scope) string { return c.file(p, s) }

// Snippet is what the file has to hold, for a person to put into it.
func (c *Client) Snippet(e Entry) string { return c.format.snippet(e) }

// Command is a command line of the client's that does the same; nil when it has none for the scope.
func (c *Client) Command(e Entry, s Scope) []string {
	if c.command == nil {
		return nil
	}
	return c.command(e, s)
}

// Edit puts an entry into the content of the client's file; what comes back is the same content when the entry is there
// already. An entry of agent's own for the same folder is replaced. An *OtherError says that the name is taken by another one,
// which force overrides; a *FileError, that the content cannot be edited. In either case nothing comes back.
func (c *Client) Edit(content []byte, e Entry, force bool) ([]byte, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	after, err := c.format.edit(content, e, force)
	if err != nil {
		return nil, err
	}
	return after, nil
}

// longestCall is how long a client should wait for a call, in seconds: a person may take minutes to approve one.
const longestCall = 600

func claudeCommand(e Entry, s Scope) []string {
	return append([]string{"claude", "mcp", "add", "--scope", string(s), e.Name, "--", e.Command}, e.Args...)
}

func codexCommand(e Entry, s Scope) []string {
	if s != User {
		return nil
	}
	return append([]string{"codex", "mcp", "add", e.Name, "--", e.Command}, e.Args...)
}

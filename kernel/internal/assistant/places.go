package assistant

import "path/filepath"

// Places are what the paths of configuration files are made of.
type Places struct {
	// Project is the folder of agent.hcl, Home that of the user; both are absolute.
	Project, Home string
	// System is the operating system, as runtime.GOOS has it.
	System string
	// Getenv looks up a variable, as os.Getenv does.
	Getenv func(string) string
}

// config is the folder that programs have for a user's settings.
func (p Places) config() string {
	switch p.System {
	case "darwin":
		return filepath.Join(p.Home, "Library", "Application Support")
	case "windows":
		return p.or("APPDATA", filepath.Join(p.Home, "AppData", "Roaming"))
	default:
		return p.or("XDG_CONFIG_HOME", filepath.Join(p.Home, ".config"))
	}
}

func (p Places) or(variable, path string) string {
	if set := p.Getenv(variable); filepath.IsAbs(set) {
		return set
	}
	return path
}

// dotFile is a file in a folder of the same name in the project and at home.
func dotFile(folder, name string) func(Places, Scope) string {
	return func(p Places, s Scope) string {
		if s == Project {
			return filepath.Join(p.Project, folder, name)
		}
		return filepath.Join(p.Home, folder, name)
	}
}

func claudeFile(p Places, s Scope) string {
	if s == Project {
		return filepath.Join(p.Project, ".mcp.json")
	}
	return filepath.Join(p.or("CLAUDE_CONFIG_DIR", p.Home), ".claude.json")
}

func claudeHooks(p Places, s Scope) string {
	if s == Project {
		return filepath.Join(p.Project, ".claude")
	}
	return p.or("CLAUDE_CONFIG_DIR", filepath.Join(p.Home, ".claude"))
}

func desktopFile(p Places, _ Scope) string {
	return filepath.Join(p.config(), "Claude", "claude_desktop_config.json")
}

func codexFile(p Places, s Scope) string {
	if s == Project {
		return filepath.Join(p.Project, ".codex", "config.toml")
	}
	return filepath.Join(p.or("CODEX_HOME", filepath.Join(p.Home, ".codex")), "config.toml")
}

func codeFile(p Places, s Scope) string {
	if s == Project {
		return filepath.Join(p.Project, ".vscode", "mcp.json")
	}
	return filepath.Join(p.config(), "Code", "User", "mcp.json")
}

func zedFile(p Places, s Scope) string {
	switch {
	case s == Project:
		return filepath.Join(p.Project, ".zed", "settings.json")
	case p.System == "windows":
		return filepath.Join(p.config(), "Zed", "settings.json")
	default: // on macOS too
		return filepath.Join(p.or("XDG_CONFIG_HOME", filepath.Join(p.Home, ".config")), "zed", "settings.json")
	}
}

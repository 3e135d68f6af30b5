// Package mcp is the face of the kernel for coding assistants: it serves the operations of an engine over the Model
// Context Protocol, on stdin and stdout or over HTTP.
//
//	client ─► transport (stdio.go, http.go) ─► SDK ─► Server ─► conversation ─► engine.Session
//	                                                    approvals ◄─ elicitation ─┘
//
// Over stdio plain calls of tools go past the SDK (plain.go, direct.go) once it has let their client make one.
//
// Tools become tools, slash commands become prompts. Each session of the protocol is an engine.Session of its own, with
// its own approvals and its own log; the providers are shared. What the policy leaves open is asked of the person behind
// the client, by elicitation; a client that cannot ask is denied, and told what would have allowed the call.
package mcp

// Package sdk is what the author of a provider imports: a provider is a value, an operation is a typed function,
// and the protocol is the SDK's work.
//
// The smallest provider:
//
//	type in struct {
//		Name string `json:"name" doc:"Whom to greet."`
//	}
//	type out struct {
//		Greeting string `json:"greeting"`
//	}
//
//	func main() {
//		p := sdk.New[struct{}]("hello", "Greets people.")
//		sdk.Tool(p, "greet", "Greet somebody.", func(_ context.Context, _ *sdk.Call[struct{}], i in) (out, error) {
//			return out{"Hello, " + i.Name}, nil
//		}).ReadOnly()
//		sdk.Main(p)
//	}
//
// What travels where:
//
//	kernel ── Configure ──► config struct ──► Setup (opens what calls need)
//	kernel ── Preview ────► Preview function ──► Plan (what would happen, nothing done)
//	kernel ── Invoke ─────► checks arguments ──► Handler(ctx, call, in) ──► out, or an error that gets its category
//	                                                 │
//	                                                 ├─ call.Status, Progress, Stdout, Stderr, Partial, Exit ──► events
//	                                                 └─ call.Log ──► the kernel's log
//	kernel ── Render ─────► Show or Render function ──► what a person sees of out
//	kernel ── cancel ─────► ctx ends; call.Grace goes on for 5 s; call.Report ──► the kernel, over the callback channel
//	kernel dies ──────────► every call is cancelled, Close runs, the process ends
//
// [Tool] and [Command] share everything; one provider may have both. Errors need no codes: [Error] lists what is
// mapped. Package sdktest runs a provider inside a test.
package sdk

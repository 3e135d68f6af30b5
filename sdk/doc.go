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
//	                                                 └─ call.Log, Emit ──► the kernel's log, and the session
//	kernel ── Render ─────► Show or Render function ──► what a person sees of out
//	kernel ── cancel ─────► ctx ends; call.Grace goes on for 5 s; call.Report ──► the kernel, over the callback channel
//	kernel dies ──────────► every call is cancelled, Close runs, the process ends
//
// What the SDK keeps, so that no provider has to:
//
//   - Arguments fit their schema before a function runs, and results theirs before they are sent.
//   - Errors need no codes: [Error] lists what is mapped. A panic is an error too.
//   - A [Root] is a directory that calls cannot leave; a [Dir] or [File] exists when Configure has succeeded.
//   - Calls run beside each other only as their operations allow ([Operation.Concurrent]), whatever the kernel does.
//   - One result or error ends a call, and nothing comes after it. All text is UTF-8, and no message is larger than gRPC
//     takes.
//   - A cancelled call has five seconds to end in good order and to say what had already happened. One that goes on all
//     the same is abandoned, and keeps its turn until it returns.
//   - The values of sensitive attributes stay inside.
//   - What is printed, in main or before it too, goes to standard error: the protocol has standard output for itself.
//
// [Tool] and [Command] share everything; one provider may have both. [RawTool] and [RawCommand] are the layer below, for
// schemas that are known only at run time; [Provider.Attach] is the one below [Main]. Package sdktest runs a provider
// inside a test, package render builds what people see, and package jail is what a Root is made of.
package sdk

package conformance

import "github.com/agentco/agent/conformance/internal/subset"

// Where the rules stand.
const (
	atHandshake    = "wire.md, Handshake"
	atLife         = "protocol.md, Life of a provider"
	atOperations   = "protocol.md, Operations"
	atInvoke       = "protocol.md, Invoke"
	atErrors       = "protocol.md, Errors"
	atCancellation = "protocol.md, Cancellation"
	atPreview      = "protocol.md, Preview and Render"
	atDescribe     = "protocol.md, Describe"
	atWire         = "wire.md"
)

// Rules is the catalogue: every rule, in the order of reports.
func Rules() []Rule {
	out := make([]Rule, len(catalogue))
	for i, e := range catalogue {
		out[i] = e.Rule
	}
	return out
}

// entry is a rule with how it is looked at, so that there is none without the other.
type entry struct {
	Rule
	check check
}

var catalogue = []entry{
	{Rule{"handshake.line", Must, "The first line on stdout is go-plugin's handshake, of core protocol 1, with an address that can be dialled.",
		atHandshake, "Handshake (go-plugin)"}, handshakeLine},
	{Rule{"handshake.version", Must, "The handshake announces version 1 of the runtime contract.",
		atHandshake, "ProtocolVersion (runtime contract, not a category's): 1"}, announced(handshakeVersion)},
	{Rule{"handshake.grpc", Must, "The handshake announces gRPC.",
		atHandshake, "allowed protocol: gRPC only"}, announced(handshakeGRPC)},
	{Rule{"handshake.mtls", Must, "Given a client certificate, the provider announces its own, and serves nobody without the client's.",
		atLife, "The kernel starts the provider's binary with go-plugin"}, announced(handshakeMTLS)},
	{Rule{"handshake.cookie", Must, "Without the right magic cookie the provider announces nothing and exits with an error.",
		atHandshake, "MagicCookieKey, MagicCookieValue"}, handshakeCookie},
	{Rule{"handshake.explains", Should, "Started without the cookie, the provider says what it is.",
		atHandshake, "MagicCookieKey, MagicCookieValue"}, handshakeExplains},
	{Rule{"env.allowlist", Must, "The provider starts with PATH, HOME, TMPDIR, LANG, LC_* and what its scenario names, and nothing else.",
		atLife, "under an allow-listed environment (PATH, HOME, TMPDIR, LANG/LC_*, plus what the kernel injects by name), never its own whole environment"}, envAllowlist},
	{Rule{"stdout.silent", Should, "After the handshake nothing is printed on stdout.",
		atHandshake, "Handshake (go-plugin)"}, stdoutSilent},

	{Rule{"category.served", Must, "The provider serves tools, slash commands or both.",
		atLife, "The kernel asks which categories it serves (GetSchema, GetCapabilities, Describe)"}, categoryServed},
	{Rule{"category.unimplemented", Must, "A category that it does not serve answers UNIMPLEMENTED.",
		atLife, "UNIMPLEMENTED means \"not this category\""}, categoryUnimplemented},
	{Rule{"schema.before-configure", Must, "GetSchema and GetCapabilities answer before Configure.",
		atLife, "GetSchema and GetCapabilities MUST be cheap, offline and answer before Configure"}, schemaBeforeConfigure},
	{Rule{"schema.quick", Must, "GetSchema and GetCapabilities answer within a second.",
		atLife, "GetSchema and GetCapabilities MUST be cheap, offline and answer before Configure"}, schemaQuick},
	{Rule{"schema.offline", Must, "GetSchema and GetCapabilities answer the same without a network.",
		atLife, "GetSchema and GetCapabilities MUST be cheap, offline and answer before Configure"}, schemaOffline},
	{Rule{"schema.stable", Should, "GetSchema and GetCapabilities answer the same each time, and after Configure.",
		atLife, "The kernel asks which categories it serves (GetSchema, GetCapabilities, Describe)"}, schemaStable},
	{Rule{"schema.names", Must, "Tools, commands and prompts have names, each once, and without a slash.",
		atWire + ", slashcommand.v1", "name 1 (no slash)"}, schemaNames},
	{Rule{"schema.description", Should, "Every operation has a description.",
		atWire + ", tool.v1", "ToolSchema: name 1, kind 2, risk 3, description 4"}, eachOperation(schemaDescription)},
	{Rule{"schema.object", Must, "Every operation has an input schema, and the schemas of arguments and payloads are objects.",
		atWire + ", tool.v1", "arguments 3 Struct"}, eachOperation(schemaObject)},
	{Rule{"schema.subset", Must, "Schemas use object, string, number, boolean and array; only an object has properties, and an array alone has items.",
		atOperations, "Schemas use only the subset: object, string, number, boolean, array, string enum"}, eachSchema(schemaSubset)},
	{Rule{"schema.enum", Must, "Only strings have enum values, and no value twice.",
		atWire + ", schema.v1", "enum_values 6 rep string (STRING nodes only)"}, eachSchema(schemaEnum)},
	{Rule{"schema.required", Must, "What is required is among the properties.",
		atWire + ", schema.v1", "properties 3 map<string,Schema>, required 4 rep string"}, eachSchema(schemaRequired)},
	{Rule{"schema.timeout", Must, "A default timeout is longer than zero.",
		atOperations, "`default_timeout`: the deadline when the config gives none"}, schemaTimeout},
	{Rule{"kind.declared", Must, "Every operation is a resource, a data source or interactive.",
		atOperations, "`kind` drives the gate"}, eachOperation(kindDeclared)},
	{Rule{"kind.risk", Must, "Data sources and interactive operations are read-only; resources are of low, moderate, high or critical risk.",
		atOperations, "`read_only` exactly for data_source and interactive; a resource is low, moderate, high or critical"}, eachOperation(kindRisk)},
	{Rule{"kind.reads", MustNot, "A call of a data source changes nothing in the working directory.",
		atOperations, "`data_source` reads and runs freely; `resource` mutates"}, lived(kindReads)},
	{Rule{"idempotent.declared", Must, "A resource that is declared idempotent leaves the working directory the same when it runs a second time.",
		atOperations, "`idempotent` true only if running twice ends in the same state as running once"}, idempotentDeclared},
	{Rule{"hooks.valid", Must, "Supported hook points are ones of the protocol, each once.",
		atWire, "Every enum has the `_UNSPECIFIED = 0` value, which is never valid in a real message"}, hooksValid},
	{Rule{"concurrency.key-fields", Must, "Key fields are arguments of the operation.",
		atOperations, "safe=true with key_fields → calls with equal values of those arguments … run one after another"}, concurrencyKeyFields},
	{Rule{"concurrency.interactive", MustNot, "An interactive operation is not declared safe to run beside others.",
		atOperations, "`interactive` asks a human, one at a time, never concurrent"}, concurrencyInteractive},

	{Rule{"config.types", Must, "Attributes have names, each once, and types of the protocol.",
		atWire + ", config.v1", "ConfigAttribute: name 1, type 2"}, eachAttribute(configTypes)},
	{Rule{"config.object", Must, "Object attributes are given exactly for the type OBJECT.",
		atWire + ", config.v1", "object_attributes 6 rep ConfigAttribute (set exactly when type is OBJECT)"}, eachAttribute(configObject)},
	{Rule{"config.default", Must, "A default is JSON of the attribute's type.",
		atWire + ", config.v1", "default_json 7 opt string"}, eachAttribute(configDefault)},
	{Rule{"config.sensitive", MustNot, "A sensitive attribute has no default.",
		atWire + ", config.v1", "default_json 7 opt string (never with sensitive)"}, eachAttribute(configSensitive)},

	{Rule{"configure.accepts", Must, "Configure takes a block that fits the config schema.",
		atLife, "The kernel decodes the `provider \"<name>\"` block against the config_schema and calls Configure once"}, configureAccepts},
	{Rule{"configure.missing-field", Must, "Configure refuses a block without a required attribute, and names the attribute.",
		atLife, "Configure MUST reject a missing or wrong field with a structured ToolError naming the field"}, configureRefuses("missing")},
	{Rule{"configure.wrong-type", Must, "Configure refuses an attribute of the wrong type, and names the attribute.",
		atLife, "Configure MUST reject a missing or wrong field with a structured ToolError naming the field"}, configureRefuses("type")},
	{Rule{"configure.unknown-field", Must, "Configure refuses an attribute that it does not know, and names the attribute.",
		atLife, "Configure MUST reject a missing or wrong field with a structured ToolError naming the field"}, configureRefuses("unknown")},
	{Rule{"configure.first", Should, "A call before Configure ends with an error, and harms nothing.",
		atLife, "The kernel … calls Configure once. … nothing is deferred to the first call"}, configureFirst},
	{Rule{"secret.echo", MustNot, "A sensitive value is not in an event, a log, an error, a rendering or what is printed.",
		atLife, "No secret is ever echoed in an event, log, error or render"}, secretEcho},

	{Rule{"describe.ref", Must, "Describe gives a name, a semantic version without v, the category asked, and version 1 of its protocol.",
		atDescribe, "name (`filesystem`, `bash`, `release-tools`), version from the linker, source address, category, protocol_version 1"}, describeRef},
	{Rule{"describe.same", Must, "Describe gives the same name, version and source for every category.",
		atDescribe, "ProducerRef of the build"}, describeSame},
	{Rule{"describe.source", Should, "Describe gives a source address.",
		atDescribe, "name …, version from the linker, source address, category, protocol_version 1"}, describeSource},

	{Rule{"arguments.missing", Must, "A call without a required argument ends with invalid_arguments.",
		atErrors, "invalid_arguments: arguments do not fit the input schema or make no sense"}, argumentsRefused(subset.Missing)},
	{Rule{"arguments.type", Must, "A call with an argument of the wrong type ends with invalid_arguments.",
		atErrors, "invalid_arguments: arguments do not fit the input schema or make no sense"}, argumentsRefused(subset.Type)},
	{Rule{"arguments.enum", Must, "A call with a value outside an enum ends with invalid_arguments.",
		atErrors, "invalid_arguments: … (ambiguous old_string, unknown enum)"}, argumentsRefused(subset.Enum)},
	{Rule{"arguments.unknown", Should, "A call with an argument that the schema does not have ends with invalid_arguments.",
		atErrors, "invalid_arguments: arguments do not fit the input schema or make no sense"}, argumentsRefused(subset.Unknown)},
	{Rule{"arguments.number", Should, "A number that JSON does not have, such as NaN, ends with invalid_arguments.",
		atOperations, "Schemas use only the subset: object, string, number, boolean, array, string enum"}, argumentsRefused(subset.Number)},
	{Rule{"operation.unknown", Must, "A call of an operation that does not exist ends with invalid_arguments or not_found.",
		atErrors, "Every failure carries exactly one category"}, lived(operationUnknown)},

	{Rule{"invoke.one-terminal", Must, "A call ends with exactly one result or error.",
		atInvoke, "then exactly one result or error, then the end"}, eachCall(invokeOneTerminal)},
	{Rule{"invoke.nothing-after", Must, "After the result or error comes no event, and the stream ends with status OK.",
		atInvoke, "then exactly one result or error, then the end. Nothing after it"}, eachCall(invokeNothingAfter)},
	{Rule{"invoke.exit-status-once", Must, "A call has at most one exit_status, before its result or error.",
		atInvoke, "at most one exit_status, and only from an operation that ran a child process; then exactly one result or error"}, eachCall(invokeExitStatusOnce)},
	{Rule{"event.valid", Must, "Every event is one of the six, and a chunk names stdout or stderr.",
		atWire, "Every enum has the `_UNSPECIFIED = 0` value, which is never valid in a real message"}, eachEvent("events", eventValid)},
	{Rule{"output.bytes", Must, "The chunks of a stream are the bytes that were produced: all of them, in their order, and as they were.",
		atInvoke, "Order of output_chunk within a stream is the order the bytes were produced. Chunks are raw bytes"}, lived(outputBytes)},
	{Rule{"streaming.declared", Must, "An operation that is not streaming sends no output_chunk and no partial_result.",
		atOperations, "`streaming` true if output_chunk or partial_result may precede the terminal event; with false only progress may"}, eachCall(streamingDeclared)},
	{Rule{"progress.fraction", Must, "The fraction of a progress is between 0 and 1.",
		atWire + ", tool.v1", "Progress {message 1, fraction_complete 2 opt double}"}, eachEvent("progress events with a fraction", progressFraction)},
	{Rule{"result.output-schema", Must, "The payload of a tool's result conforms to its output schema.",
		atInvoke, "The kernel validates result.payload of a tool against output_schema"}, lived(resultOutputSchema)},
	{Rule{"context.directory", Must, "A relative path in an argument resolves against the call's working directory.",
		atInvoke, "a relative path in an argument resolves against working_directory"}, lived(contextDirectory)},
	{Rule{"scenario.expected", Must, "Every call of the scenario ends as the scenario says.",
		atInvoke, "Stream: any number of output_chunk, progress, partial_result; … then exactly one result or error, then the end"}, scenarioExpected},

	{Rule{"error.category", Must, "An error has one of the categories.",
		atErrors, "Every failure carries exactly one category"}, eachFailure(errorCategory)},
	{Rule{"error.crashed", MustNot, "A provider never says process_crashed.",
		atErrors, "the provider died during the call; only the kernel makes this one"}, eachFailure(errorCrashed)},
	{Rule{"error.cancelled", MustNot, "A call that nobody cancelled does not end with cancelled.",
		atErrors, "cancelled: the stream was cancelled"}, eachFailure(errorCancelled)},
	{Rule{"error.message", Must, "An error has a message.",
		atErrors, "`message` is for a person: what was attempted, on what, what to do"}, eachFailure(errorMessage)},
	{Rule{"error.cause", Must, "An error of category unknown has details.",
		atErrors, "unknown: anything else; `details` MUST carry the raw cause"}, eachFailure(errorCause)},
	{Rule{"error.retryable", MustNot, "An error of invalid_arguments or permission_denied is not retryable.",
		atErrors, "give back to the caller, no retry … never retried with more privilege … `retryable` is honest"}, eachFailure(errorRetryable)},
	{Rule{"unary.details", Must, "A failing Configure, Preview or Render has exactly one ToolError in the details of its status.",
		atErrors, "A failing unary RPC (Configure, Preview, Render) returns a gRPC status whose details hold the ToolError"}, unaryDetails},
	{Rule{"unary.code", Must, "The status code of a failing Configure, Preview or Render is the one of the ToolError's category.",
		atErrors, "invalid_arguments→InvalidArgument, not_found→NotFound, permission_denied→PermissionDenied, …"}, unaryCode},

	{Rule{"cancel.report", Must, "A cancelled resource call reports what had happened over the callback channel.",
		atCancellation, "a resource operation MUST make a best effort to say what had already happened"}, eachCancelled("cancelled calls of resources that had begun", cancelReport)},
	{Rule{"cancel.report-shape", Must, "The report is a tool_result event, schema version 1, of the call's session, with a cancelled error whose details hold the partial result, and an output of at most 64 KiB.",
		atCancellation, "Emit(session_id, EVENT_KIND_TOOL_RESULT, schema_version \"1\", ToolResultEvent{tool_call_id, error: ToolError{category CANCELLED, …}})"}, eachCancelled("reports", cancelReportShape)},
	{Rule{"cancel.no-terminal", MustNot, "A cancelled call sends no result, and no error other than its report.",
		atCancellation, "It never sends result or error"}, eachCancelled("cancelled calls", cancelNoTerminal)},
	{Rule{"cancel.time", Must, "The report of a cancelled call comes within the grace time of five seconds.",
		atCancellation, "The handler gets a grace context (default 5 s, the kill grace included) in which to finish its report"}, eachCancelled("reports", cancelTime)},
	{Rule{"cancel.processes", MustNot, "After the grace time no process that a cancelled call started is left.",
		atCancellation, "SIGTERM to the child's whole process group, then SIGKILL after the grace time"}, knowsProcesses(eachCancelled("cancelled calls", cancelProcesses))},
	{Rule{"cancel.survives", Must, "After a cancellation the provider answers other calls.",
		atCancellation, "The provider stops at once and cleanly"}, eachCancelled("cancelled calls", cancelSurvives)},

	{Rule{"preview.pure", MustNot, "Preview changes nothing in the working directory.",
		atPreview, "Preview describes what Invoke would do, without doing any of it"}, lived(previewPure)},
	{Rule{"preview.validates", Must, "Preview refuses the arguments that Invoke refuses, with invalid_arguments.",
		atPreview, "It validates arguments like Invoke does"}, lived(previewValidates)},
	{Rule{"render.result", Must, "Render shows the payloads that the provider returned.",
		atPreview, "Render turns a payload that this provider emitted or returned … into a RenderTree"}, lived(renderResult)},
	{Rule{"render.garbage", Must, "Render answers a payload that is none with an error or a tree, and the provider lives on.",
		atPreview, "Absent or failing (own deadline 5 s), the kernel falls back to pretty-printed arguments or payload"}, lived(renderGarbage)},
	{Rule{"render.tree", Must, "Every node of a preview or rendering is of a kind, and its styles and diff lines too.",
		atWire + ", render.v1", "RenderNode oneof node"}, lived(renderTree)},
	{Rule{"show.quick", Should, "Preview and Render answer within five seconds.",
		atPreview, "Absent or failing (own deadline 5 s)"}, lived(showQuick)},

	{Rule{"concurrency.parallel", Must, "Calls that are declared safe end as they should when they run side by side.",
		atOperations, "safe=true without key_fields → calls never conflict"}, concurrencyParallel},
	{Rule{"message.size", Must, "No message of the provider is of 4 MiB or more.",
		atInvoke, "gRPC messages stay under 4 MiB on the default limit"}, messageSize},
	{Rule{"message.large", Must, "A call with 3.9 MiB of arguments is answered.",
		atInvoke, "gRPC messages stay under 4 MiB on the default limit"}, lived(messageLarge)},
	{Rule{"wire.unknown-fields", Must, "Fields that a message does not have are ignored.",
		atWire, "a kernel or a provider written by anyone else must interoperate byte for byte"}, lived(wireUnknownFields)},
	{Rule{"wire.garbage", Must, "Bytes that are no message are answered with an error, and the provider lives on.",
		atWire, "a kernel or a provider written by anyone else must interoperate byte for byte"}, lived(wireGarbage)},
	{Rule{"log.entry", Must, "Log entries have a level, a message and a time.",
		atWire + ", log.v1", "LogEntry: level 1, logger 2, message 3, fields 4 Struct, time 5 Timestamp"}, lived(logEntry)},
	{Rule{"callback.absent", Must, "Calls end as usual when the kernel serves no callbacks.",
		atHandshake, "the kernel serves KernelCallbackService on it; the provider dials it lazily"}, callbacksLike(func(s *subject) session { return s.unheard() })},
	{Rule{"callback.slow", Should, "Calls end as usual when the kernel is slow to take a callback.",
		atHandshake, "the kernel serves KernelCallbackService on it; the provider dials it lazily"}, callbacksLike(func(s *subject) session { return s.unhurried() })},

	{Rule{"shutdown.clean", Must, "Asked to shut down, the provider ends by itself within two seconds.",
		atLife, "Graceful shutdown: drain, then kill; nothing left running"}, lived(shutdownClean)},
	{Rule{"shutdown.processes", MustNot, "After the shutdown no process of the provider is left.",
		atLife, "Graceful shutdown: drain, then kill; nothing left running"}, knowsProcesses(lived(shutdownProcesses))},
	{Rule{"shutdown.busy", MustNot, "After a shutdown while a call runs no process of the provider is left.",
		atLife, "Graceful shutdown: drain, then kill; nothing left running"}, knowsProcesses(shutdownBusy)},
	{Rule{"shutdown.tidy", Should, "After the shutdown no temporary file and no socket is left.",
		atCancellation, "files and sockets released"}, lived(shutdownTidy)},
	{Rule{"parent.death", Should, "When the kernel is killed, the provider and its processes end by themselves within ten seconds.",
		atLife, "nothing left running"}, parentDeath},
}

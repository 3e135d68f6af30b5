package conformance

import "github.com/agentco/agent/conformance/internal/subset"

// Where the rules stand: the sections of docs/protocol.md.
const (
	atHandshake    = "docs/protocol.md, Handshake"
	atLife         = "docs/protocol.md, Life of a provider"
	atOperations   = "docs/protocol.md, Operations"
	atInvoke       = "docs/protocol.md, Invoke"
	atErrors       = "docs/protocol.md, Errors"
	atCancellation = "docs/protocol.md, Cancellation"
	atPreview      = "docs/protocol.md, Preview and Render"
	atDescribe     = "docs/protocol.md, Describe"
	atMessages     = "docs/protocol.md, Messages"
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
		atHandshake, "The first line on standard output MUST be the handshake of go-plugin's core protocol 1, with an address that can be dialled."}, handshakeLine},
	{Rule{"handshake.version", Must, "The handshake announces version 1 of the runtime contract.",
		atHandshake, "A provider MUST announce version 1 of the runtime contract, and gRPC."}, announced(handshakeVersion)},
	{Rule{"handshake.grpc", Must, "The handshake announces gRPC.",
		atHandshake, "A provider MUST announce version 1 of the runtime contract, and gRPC."}, announced(handshakeGRPC)},
	{Rule{"handshake.mtls", Must, "Given a client certificate, the provider announces its own, and serves nobody without the client's.",
		atHandshake, "A provider that is given a client certificate MUST announce one of its own, and MUST serve nobody who does not show the client's."}, announced(handshakeMTLS)},
	{Rule{"handshake.cookie", Must, "Without the right magic cookie the provider announces nothing and exits with an error.",
		atHandshake, "A provider that finds no cookie or a wrong one MUST announce nothing and exit with an error."}, handshakeCookie},
	{Rule{"handshake.explains", Should, "Started without the cookie, the provider says what it is.",
		atHandshake, "A provider without the cookie SHOULD tell the person who started it what it is."}, handshakeExplains},
	{Rule{"env.allowlist", Must, "The provider starts with PATH, HOME, TMPDIR, LANG, LC_* and what its scenario names, and nothing else.",
		atHandshake, "A provider MUST be started with PATH, HOME, TMPDIR, LANG, LC_* and what is put there by name, and with nothing else."}, envAllowlist},
	{Rule{"stdout.silent", Should, "After the handshake nothing is printed on stdout.",
		atHandshake, "After its handshake a provider SHOULD print nothing on standard output."}, stdoutSilent},

	{Rule{"category.served", Must, "The provider serves tools, slash commands or both.",
		atLife, "A provider MUST serve tools, slash commands or both, on one connection, and MUST answer UNIMPLEMENTED for a category that it does not serve."}, categoryServed},
	{Rule{"category.unimplemented", Must, "A category that it does not serve answers UNIMPLEMENTED.",
		atLife, "A provider MUST serve tools, slash commands or both, on one connection, and MUST answer UNIMPLEMENTED for a category that it does not serve."}, categoryUnimplemented},
	{Rule{"schema.before-configure", Must, "GetSchema and GetCapabilities answer before Configure.",
		atLife, "GetSchema and GetCapabilities MUST answer before Configure, within a second, and the same without a network."}, schemaBeforeConfigure},
	{Rule{"schema.quick", Must, "GetSchema and GetCapabilities answer within a second.",
		atLife, "GetSchema and GetCapabilities MUST answer before Configure, within a second, and the same without a network."}, schemaQuick},
	{Rule{"schema.offline", Must, "GetSchema and GetCapabilities answer the same without a network.",
		atLife, "GetSchema and GetCapabilities MUST answer before Configure, within a second, and the same without a network."}, schemaOffline},
	{Rule{"schema.stable", Should, "GetSchema and GetCapabilities answer the same each time, and after Configure.",
		atLife, "GetSchema and GetCapabilities SHOULD answer the same each time, and after Configure too."}, schemaStable},
	{Rule{"schema.names", Must, "Tools, commands and prompts have names, each once, and without a slash.",
		atOperations, "Operations and prompts MUST have names, without a slash and each of its own."}, schemaNames},
	{Rule{"schema.description", Should, "Every operation has a description.",
		atOperations, "An operation SHOULD have a description: a model and a person have nothing else to choose by."}, eachOperation(schemaDescription)},
	{Rule{"schema.object", Must, "Every operation has an input schema, and the schemas of arguments and payloads are objects.",
		atOperations, "An operation MUST have an input schema, and what describes arguments or a payload MUST be an object."}, eachOperation(schemaObject)},
	{Rule{"schema.subset", Must, "Schemas use object, string, number, boolean and array; only an object has properties, and an array alone has items.",
		atOperations, "A schema MUST be made of objects, strings, numbers, booleans and arrays alone; only an object has properties, and only an array has items."}, eachSchema(schemaSubset)},
	{Rule{"schema.enum", Must, "Only strings have enum values, and no value twice.",
		atOperations, "An enum MUST stand on a string, with no value twice."}, eachSchema(schemaEnum)},
	{Rule{"schema.required", Must, "What is required is among the properties.",
		atOperations, "What an object requires MUST be among its properties."}, eachSchema(schemaRequired)},
	{Rule{"schema.timeout", Must, "A default timeout is longer than zero.",
		atOperations, "A default timeout MUST be longer than zero."}, schemaTimeout},
	{Rule{"kind.declared", Must, "Every operation is a resource, a data source or interactive.",
		atOperations, "Every operation MUST be a data source, a resource or interactive."}, eachOperation(kindDeclared)},
	{Rule{"kind.risk", Must, "Data sources and interactive operations are read-only; resources are of low, moderate, high or critical risk.",
		atOperations, "The risk of data sources and interactive operations MUST be read-only; that of a resource MUST be low, moderate, high or critical."}, eachOperation(kindRisk)},
	{Rule{"kind.reads", MustNot, "A call of a data source changes nothing in the working directory.",
		atOperations, "A call of a data source MUST NOT change anything in the working directory."}, lived(kindReads)},
	{Rule{"idempotent.declared", Must, "A resource that is declared idempotent leaves the working directory the same when it runs a second time.",
		atOperations, "An operation that says it is idempotent MUST leave everything as it was when it runs a second time."}, idempotentDeclared},
	{Rule{"hooks.valid", Must, "Supported hook points are ones of the protocol, each once.",
		atOperations, "Hook points MUST be ones of the protocol, each at most once."}, hooksValid},
	{Rule{"concurrency.key-fields", Must, "Key fields are arguments of the operation.",
		atOperations, "Key fields MUST be arguments of the operation."}, concurrencyKeyFields},
	{Rule{"concurrency.interactive", MustNot, "An interactive operation is not declared safe to run beside others.",
		atOperations, "An interactive operation MUST NOT be declared safe: a person is asked one thing at a time."}, concurrencyInteractive},

	{Rule{"config.types", Must, "Attributes have names, each once, and types of the protocol.",
		atOperations, "Attributes MUST have a name that no other one has, and a type of the protocol."}, eachAttribute(configTypes)},
	{Rule{"config.object", Must, "Object attributes are given exactly for the type OBJECT.",
		atOperations, "Attributes of an object MUST be given exactly when the type is OBJECT."}, eachAttribute(configObject)},
	{Rule{"config.default", Must, "A default is JSON of the attribute's type.",
		atOperations, "A default MUST be JSON of the attribute's type."}, eachAttribute(configDefault)},
	{Rule{"config.sensitive", MustNot, "A sensitive attribute has no default.",
		atOperations, "A sensitive attribute MUST NOT have a default."}, eachAttribute(configSensitive)},

	{Rule{"configure.accepts", Must, "Configure takes a block that fits the config schema.",
		atLife, "A provider MUST accept a block that fits its config schema and makes sense."}, configureAccepts},
	{Rule{"configure.missing-field", Must, "Configure refuses a block without a required attribute, and names the attribute.",
		atLife, "Configure MUST refuse a block in which a required attribute is missing, an attribute is of another type than the schema says, or an attribute stands that the schema does not have, and name the attribute in its ToolError."}, configureRefuses("missing")},
	{Rule{"configure.wrong-type", Must, "Configure refuses an attribute of the wrong type, and names the attribute.",
		atLife, "Configure MUST refuse a block in which a required attribute is missing, an attribute is of another type than the schema says, or an attribute stands that the schema does not have, and name the attribute in its ToolError."}, configureRefuses("type")},
	{Rule{"configure.unknown-field", Must, "Configure refuses an attribute that it does not know, and names the attribute.",
		atLife, "Configure MUST refuse a block in which a required attribute is missing, an attribute is of another type than the schema says, or an attribute stands that the schema does not have, and name the attribute in its ToolError."}, configureRefuses("unknown")},
	{Rule{"configure.first", Should, "A call before Configure ends with an error, and harms nothing.",
		atLife, "A call that comes before Configure SHOULD end with an error and do no harm."}, configureFirst},
	{Rule{"secret.echo", MustNot, "A sensitive value is not in an event, a log, an error, a rendering or what is printed.",
		atLife, "The value of a sensitive attribute MUST NOT come back: not in an event, a log entry, an error, a rendering, or anything printed."}, secretEcho},

	{Rule{"describe.ref", Must, "Describe gives a name, a semantic version without v, the category asked, and version 1 of its protocol.",
		atDescribe, "Describe MUST answer with a name, a semantic version without a `v`, the category that was asked, and version 1 of the category's protocol."}, describeRef},
	{Rule{"describe.same", Must, "Describe gives the same name, version and source for every category.",
		atDescribe, "Name, version and source MUST be the same for every category."}, describeSame},
	{Rule{"describe.source", Should, "Describe gives a source address.",
		atDescribe, "Describe SHOULD give the address of the source."}, describeSource},

	{Rule{"arguments.missing", Must, "A call without a required argument ends with invalid_arguments.",
		atInvoke, "A call MUST end with `invalid_arguments` when a required argument is missing, when an argument is of another type than the schema says, or when a value is not in its enum."}, argumentsRefused(subset.Missing)},
	{Rule{"arguments.type", Must, "A call with an argument of the wrong type ends with invalid_arguments.",
		atInvoke, "A call MUST end with `invalid_arguments` when a required argument is missing, when an argument is of another type than the schema says, or when a value is not in its enum."}, argumentsRefused(subset.Type)},
	{Rule{"arguments.enum", Must, "A call with a value outside an enum ends with invalid_arguments.",
		atInvoke, "A call MUST end with `invalid_arguments` when a required argument is missing, when an argument is of another type than the schema says, or when a value is not in its enum."}, argumentsRefused(subset.Enum)},
	{Rule{"arguments.unknown", Should, "A call with an argument that the schema does not have ends with invalid_arguments.",
		atInvoke, "A call SHOULD end with `invalid_arguments` when the schema does not have an argument, or when a number is one that JSON does not have, such as NaN."}, argumentsRefused(subset.Unknown)},
	{Rule{"arguments.number", Should, "A number that JSON does not have, such as NaN, ends with invalid_arguments.",
		atInvoke, "A call SHOULD end with `invalid_arguments` when the schema does not have an argument, or when a number is one that JSON does not have, such as NaN."}, argumentsRefused(subset.Number)},
	{Rule{"operation.unknown", Must, "A call of an operation that does not exist ends with invalid_arguments or not_found.",
		atInvoke, "A call of an operation that the provider does not have MUST end with `invalid_arguments` or `not_found`."}, lived(operationUnknown)},

	{Rule{"invoke.one-terminal", Must, "A call ends with exactly one result or error.",
		atInvoke, "A call MUST end with exactly one result or error."}, eachCall(invokeOneTerminal)},
	{Rule{"invoke.nothing-after", Must, "After the result or error comes no event, and the stream ends with status OK.",
		atInvoke, "After the result or error there MUST be nothing but the end of the stream, with status OK."}, eachCall(invokeNothingAfter)},
	{Rule{"invoke.exit-status-once", Must, "A call has at most one exit_status, before its result or error.",
		atInvoke, "An exit status MUST come at most once, before the result or error, and only from an operation that ran a child process."}, eachCall(invokeExitStatusOnce)},
	{Rule{"event.valid", Must, "Every event is one of the six, and a chunk names stdout or stderr.",
		atInvoke, "An event MUST be one of the six, and a chunk MUST say whether it is standard output or standard error."}, eachEvent("events", eventValid)},
	{Rule{"output.bytes", Must, "The chunks of a stream are the bytes that were produced: all of them, in their order, and as they were.",
		atInvoke, "The chunks of an output MUST be all the bytes that were produced, in their order and as they were: a character may be cut by two of them."}, lived(outputBytes)},
	{Rule{"streaming.declared", Must, "An operation that is not streaming sends no output_chunk and no partial_result.",
		atOperations, "An operation that is not `streaming` MUST NOT send output or partial results; progress it may send."}, eachCall(streamingDeclared)},
	{Rule{"progress.fraction", Must, "The fraction of a progress is between 0 and 1.",
		atInvoke, "The fraction of a progress MUST lie between 0 and 1."}, eachEvent("progress events with a fraction", progressFraction)},
	{Rule{"result.output-schema", Must, "The payload of a tool's result conforms to its output schema.",
		atInvoke, "The payload of a tool's result MUST conform to its output schema."}, lived(resultOutputSchema)},
	{Rule{"context.directory", Must, "A relative path in an argument resolves against the call's working directory.",
		atInvoke, "A relative path in an argument MUST be taken from the working directory of the call."}, lived(contextDirectory)},
	{Rule{"scenario.expected", Must, "Every call of the scenario ends as the scenario says.",
		atInvoke, "A call MUST end as the author of the provider says: with the payload, the output or the category of error that is expected of it."}, scenarioExpected},

	{Rule{"error.category", Must, "An error has one of the categories.",
		atErrors, "An error MUST have exactly one of these categories:"}, eachFailure(errorCategory)},
	{Rule{"error.crashed", MustNot, "A provider never says process_crashed.",
		atErrors, "A provider MUST NOT say `process_crashed`: whoever could say it is alive."}, eachFailure(errorCrashed)},
	{Rule{"error.cancelled", MustNot, "A call that nobody cancelled does not end with cancelled.",
		atErrors, "A call that nobody has cancelled MUST NOT end with `cancelled`."}, eachFailure(errorCancelled)},
	{Rule{"error.message", Must, "An error has a message.",
		atErrors, "An error MUST have a message, for a person: what was attempted, on what, and what to do next."}, eachFailure(errorMessage)},
	{Rule{"error.cause", Must, "An error of category unknown has details.",
		atErrors, "An error of category `unknown` MUST have the raw cause in its details."}, eachFailure(errorCause)},
	{Rule{"error.retryable", MustNot, "An error of invalid_arguments or permission_denied is not retryable.",
		atErrors, "An error of `invalid_arguments` or `permission_denied` MUST NOT be retryable."}, eachFailure(errorRetryable)},
	{Rule{"unary.details", Must, "A failing Configure, Preview or Render has exactly one ToolError in the details of its status.",
		atErrors, "When Configure, Preview or Render fails, the details of the gRPC status MUST hold exactly one ToolError."}, unaryDetails},
	{Rule{"unary.code", Must, "The status code of a failing Configure, Preview or Render is the one of the ToolError's category.",
		atErrors, "The code of that status MUST be the one of the category:"}, unaryCode},

	{Rule{"cancel.report", Must, "A cancelled resource call reports what had happened over the callback channel.",
		atCancellation, "A cancelled call of a resource MUST be reported, as far as it is known what had already happened."}, eachCancelled("cancelled calls of resources that had begun", cancelReport)},
	{Rule{"cancel.report-shape", Must, "The report is a tool_result event, schema version 1, of the call's session, with a cancelled error whose details hold the partial result, and an output of at most 64 KiB.",
		atCancellation, "A report MUST be an event of kind TOOL_RESULT and schema version \"1\", in the session of the call and with its id, and hold an error of category `cancelled`, with a message. The details of that error MUST have `partial_result`, an empty object when there is nothing, and MAY have `output`: what was produced after the cancellation, at most 64 KiB, in base64 when it is no UTF-8 (`output_encoding` then says so)."}, eachCancelled("reports", cancelReportShape)},
	{Rule{"cancel.no-terminal", MustNot, "A cancelled call sends no result, and no error other than its report.",
		atCancellation, "A cancelled call MUST NOT send a result, nor an error other than that of its report."}, eachCancelled("cancelled calls", cancelNoTerminal)},
	{Rule{"cancel.time", Must, "The report of a cancelled call comes within the grace time of five seconds.",
		atCancellation, "A report MUST come within five seconds of the cancellation, the time for SIGTERM and SIGKILL included."}, eachCancelled("reports", cancelTime)},
	{Rule{"cancel.processes", MustNot, "After the grace time no process that a cancelled call started is left.",
		atCancellation, "When these five seconds are over, there MUST NOT be a process left that a cancelled call had started."}, knowsProcesses(eachCancelled("cancelled calls", cancelProcesses))},
	{Rule{"cancel.survives", Must, "After a cancellation the provider answers other calls.",
		atCancellation, "A provider MUST answer other calls after a cancellation as before it."}, eachCancelled("cancelled calls", cancelSurvives)},

	{Rule{"preview.pure", MustNot, "Preview changes nothing in the working directory.",
		atPreview, "Preview MUST NOT change anything, in the working directory or elsewhere."}, lived(previewPure)},
	{Rule{"preview.validates", Must, "Preview refuses the arguments that Invoke refuses, with invalid_arguments.",
		atPreview, "Preview MUST refuse the arguments that Invoke refuses, with `invalid_arguments`."}, lived(previewValidates)},
	{Rule{"render.result", Must, "Render shows the payloads that the provider returned.",
		atPreview, "Render MUST answer for every payload that the provider has returned."}, lived(renderResult)},
	{Rule{"render.garbage", Must, "Render answers a payload that is none with an error or a tree, and the provider lives on.",
		atPreview, "Render MUST answer a payload that is none with an error or a tree, and the provider lives on."}, lived(renderGarbage)},
	{Rule{"render.tree", Must, "Every node of a preview or rendering is of a kind, and its styles and diff lines too.",
		atPreview, "Every node of a tree MUST be of a kind, with styles and lines of diffs that the protocol has."}, lived(renderTree)},
	{Rule{"show.quick", Should, "Preview and Render answer within five seconds.",
		atPreview, "Preview and Render SHOULD answer within five seconds."}, lived(showQuick)},

	{Rule{"concurrency.parallel", Must, "Calls that are declared safe end as they should when they run side by side.",
		atOperations, "Calls of operations that are declared safe MUST end side by side as they would end alone."}, concurrencyParallel},
	{Rule{"message.size", Must, "No message of the provider is of 4 MiB or more.",
		atMessages, "A message of a provider MUST be smaller than 4 MiB: output is cut into chunks, results into pages."}, messageSize},
	{Rule{"message.large", Must, "A call with 3.9 MiB of arguments is answered.",
		atMessages, "A provider MUST answer a call with 3.9 MiB of arguments."}, lived(messageLarge)},
	{Rule{"wire.unknown-fields", Must, "Fields that a message does not have are ignored.",
		atMessages, "Fields that a message does not have MUST be ignored."}, lived(wireUnknownFields)},
	{Rule{"wire.garbage", Must, "Bytes that are no message are answered with an error, and the provider lives on.",
		atMessages, "Bytes that are no message MUST be answered with an error, and the provider lives on."}, lived(wireGarbage)},
	{Rule{"log.entry", Must, "Log entries have a level, a message and a time.",
		atMessages, "A log entry MUST have a level, a message and a time."}, lived(logEntry)},
	{Rule{"callback.absent", Must, "Calls end as usual when the kernel serves no callbacks.",
		atHandshake, "A call MUST end as usual when there are no callbacks, and it SHOULD when they are slow."}, callbacksLike(func(s *subject) session { return s.unheard() })},
	{Rule{"callback.slow", Should, "Calls end as usual when the kernel is slow to take a callback.",
		atHandshake, "A call MUST end as usual when there are no callbacks, and it SHOULD when they are slow."}, callbacksLike(func(s *subject) session { return s.unhurried() })},

	{Rule{"shutdown.clean", Must, "Asked to shut down, the provider ends by itself within two seconds.",
		atLife, "A provider that is asked to shut down MUST end by itself within two seconds when no call runs; calls that run are cancelled and may report first."}, lived(shutdownClean)},
	{Rule{"shutdown.processes", MustNot, "After the shutdown no process of the provider is left.",
		atLife, "After a shutdown there MUST NOT be a process left that the provider has started, whether a call was running or none."}, knowsProcesses(lived(shutdownProcesses))},
	{Rule{"shutdown.busy", MustNot, "After a shutdown while a call runs no process of the provider is left.",
		atLife, "After a shutdown there MUST NOT be a process left that the provider has started, whether a call was running or none."}, knowsProcesses(shutdownBusy)},
	{Rule{"shutdown.tidy", Should, "After the shutdown no temporary file and no socket is left.",
		atLife, "After a shutdown there SHOULD be no temporary file and no socket left."}, lived(shutdownTidy)},
	{Rule{"parent.death", Should, "When the kernel is killed, the provider and its processes end by themselves within ten seconds.",
		atLife, "When the kernel is killed, a provider SHOULD end by itself within ten seconds, and with it the processes it has started."}, parentDeath},
}

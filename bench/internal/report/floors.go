package report

import "slices"

// sumOf is a bound of medians.
func sumOf(parts ...[]part) []bound { return []bound{{parts: slices.Concat(parts...)}} }

// one is a single part.
func one(named string, f figure) []part { return []part{{named: named, figure: f}} }

// throughJail is what it costs to open and read a file through a jail, beside doing so without.
func throughJail(op string) figure { return excess(median(jailed, op), median(inside, op)) }

// logged is the wait for the entries of a call.
func logged(op string) []part { return one("the log", median(logAlone, op)) }

// client is what the official SDK's client takes for our answer, whoever sends it.
func client(op string) []part { return one("the client, for our answer", median(clientSame, op)) }

// provided is a read by a provider: a bare one, called over a stream, with a jail, and the log.
func provided(op string) []part {
	return slices.Concat(one("bare go-plugin, over a stream", median(streamed, op)), one("the jail", throughJail(op)), logged(op))
}

// fromMemory is what our answer takes without the client.
func fromMemory(op string) part {
	return part{named: "ours without the client", figure: excess(median(stdio, op), median(clientSame, op))}
}

// answered is the bare chain with an answer of the same shape.
func answered(op string) part {
	return part{named: "the bare chain, its answer in both forms", figure: median(chainSame, op), alike: true}
}

// crowded is the bound of calls that are made at once: the processors, by what each part of one call uses of them.
func crowded(ours, op, alone string, calls float64, clients ...string) []bound {
	b := bound{mean: mean(ours, op)}
	share := func(named string, f figure) { b.parts = append(b.parts, part{named: named, figure: shared(calls, f)}) }
	for _, name := range clients {
		share("the client, for our answer", used(name, op))
	}
	share("bare go-plugin, over a stream", excess(used(streamed, op), driving(op, alone)))
	share("the jail", throughJail(alone))
	share("the log, with its database", used(logAlone, op))
	return []bound{b}
}

// driving is the processor time that this driver itself takes for a call that it makes.
func driving(op, alone string) figure { return excess(used(inside, op), median(inside, alone)) }

// ofTheCores is how long calls that are made at once take at least, by what one of ours uses.
func ofTheCores(subject, op string, calls float64) part {
	return part{named: "the cores, by what ours uses", figure: shared(calls, used(subject, op))}
}

// kept is the bound of calls that bring much, one after the other: the database has to take in what the log is given.
func kept(ours, op string) []bound {
	return []bound{{parts: one("the log, until its database has it", mean(logAlone, op)), mean: mean(ours, op)}}
}

// counted is that of a line that is asked for by its number.
func counted(op string) []bound {
	return sumOf(one("a bare call", median(goPlugin, "noop")), one("counting up to the line", median(inside, op)))
}

// edited is a safe edit by a bare provider, with the log.
func edited(work, op string) []part {
	return slices.Concat(one("a bare call over a stream", median(streamed, "noop")), one("edit, fsync'd rename, the old content kept, both hashed", median(inside, work)), logged(op))
}

// bareStart is what a start cannot be without.
var bareStart = sumOf(
	one("a bare MCP server, linked with go-plugin, gRPC, SQLite's driver, HCL and the SDK of MCP", median(linked, "cold")),
	one("the client, for our list of tools", excess(median(clientSame, "cold"), median(clientFloor, "cold"))),
)

// Package observe derives the state of a team, and what happens to it, from the
// stream of one Claude Code session: its stream-json output, the messages of an
// SDK, or a transcript. It looks at nothing but the stream.
//
// A line goes through five steps, each a part of its own that can be used alone:
//
//	scan       may this line matter? (no decoding; most lines end here)
//	Decode     the line, tolerant of every shape content is known to have
//	Recognize  uses of team tools, their required input checked
//	Buffer     a use waits for its result, which comes in a later line
//	Reduce     team + use + result → team
//
// Tracker puts them together for one session; from the difference between two
// states come the events, and beside every recognised use and its result stands a
// supplementary Message. Run does the reading and writing around it, Observer
// gives the same as a typed sequence.
//
// # Rules
//
// A state starts at TeamCreate or, in a stream without it, at the first spawn
// whose result names a team, or at the first line of a transcript that says whose
// teammate it is. The result counts, not the request: newer clients ignore the
// team that was asked for. Before that, tasks are kept aside and come along once
// there is a team; they are the session's own list, so until then nothing is told
// of them. Who sees its session create the team leads; so does who spawns into its
// own implicit team (session-…); everybody else is a teammate. Where a use of
// TeamCreate came first, its session leads, whichever result comes first.
//
// A stream may hold several sessions; each has a state of its own. It may be lines, or
// one JSON array of them. A result whose use is not in the stream counts if it says by
// itself what was done.
//
// A use counts once: the ids of applied ones are part of the state, so that any
// replay, whole or in part, changes nothing. A use counts for what its result says
// it did: an error, success:false, a bare sentence of refusal and a deletion that
// deleted nothing all leave the team as it was, and are kept in Team.Refusals.
//
// An approval of a shutdown that came by mail is a claim: the member is shut down
// when it says so itself by its tool, or when the client reports its end.
//
// # Bounds
//
// Memory is bounded by the longest line (64 MiB; longer ones pass through in
// pieces), by the uses that wait for a result (4096, 64 MiB of input), and by the
// ids that are remembered (16384).
//
// Formats: Claude Code 2.1.32 – 2.1.332, both generations of its team tools.
package observe

/** The turn in which a message was said. */

import type { Entry } from "../../api/types";
import type { LiveSession } from "../../session/session.svelte";

/** Where the entries of a turn stand: its request at most so far before its message. */
const BEFORE = 300;

/**
 * The number of the turn that a message came from; `undefined` where it came from none. The answer of a turn is the
 * first one of its agent after the message, in the same append; its request is the last one before it.
 */
export async function turnOf(session: LiveSession, entry: Entry, signal: AbortSignal): Promise<number | undefined> {
  const agent = entry.data["agent"];
  if (typeof agent !== "string") return undefined;
  const query = {
    after: Math.max(0, entry.seq - BEFORE),
    limit: BEFORE + 20,
    types: "turn.requested,turn.answered",
  };
  const page = await session.api.get("/v1/sessions/{session}/journal", { query, signal });
  const turns = (page.entries as Entry[]).filter((one) => one.data["agent"] === agent);
  const answered = turns.find((one) => one.type === "turn.answered" && one.seq > entry.seq);
  if (!answered || !isOf(answered, entry)) return undefined;
  const { run, turn } = answered.data;
  return turns.findLast(
    (one) =>
      one.type === "turn.requested" && one.seq < entry.seq && one.data["run"] === run && one.data["turn"] === turn,
  )?.seq;
}

function isOf(answered: Entry, message: Entry): boolean {
  const named = answered.data["message"] as { seq?: number } | undefined;
  return named?.seq === undefined ? answered.at === message.at : named.seq === message.seq;
}

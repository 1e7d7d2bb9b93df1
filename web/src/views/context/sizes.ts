/** What the view of sizes reads, and how it says it. */

import type { Entry, Schemas } from "../../api/types";
import { number, percent } from "../../format";
import type { LiveSession } from "../../session/session.svelte";
import type { Point } from "./AreaChart.svelte";

export type ContextSize = Schemas["ContextSize"];
export type AgentContext = Schemas["AgentContext"];

/** Sizes in a thread, with those agents that do not see it in a thread that they do see. */
export async function readSizes(session: LiveSession, thread: string, signal: AbortSignal): Promise<ContextSize> {
  const read = (name: string) =>
    session.api.get("/v1/sessions/{session}/threads/{thread}/context", { path: { thread: name }, signal });
  const size = await read(thread);
  const agents = [...(size.agents ?? [])];
  if (session.isInCharge) {
    for (const { name } of session.agents) {
      if (agents.some((one) => one.agent === name)) continue;
      // An agent that has no thread of its own yet has no size to show.
      const own = await read(`agent:${name}`).catch(() => undefined);
      agents.push(...(own?.agents ?? []).filter((one) => one.agent === name));
    }
    agents.sort((one, other) => session.place(one.agent) - session.place(other.agent));
  }
  return { ...size, agents };
}

/** `lead: 162,480 of 200,000 tokens, 81 %; 17,520 until compression` */
export function inWords({ tokens, window, compress_at, warn_at }: AgentContext): string {
  const state = tokens >= compress_at ? "above compression" : tokens >= warn_at ? "above warning" : "";
  const left = tokens < compress_at ? `${number(compress_at - tokens)} until compression` : "";
  return [`${number(tokens)} of ${number(window)} tokens, ${percent(tokens / window)}`, state, left]
    .filter(Boolean)
    .join(", ");
}

/** The entries at which a history is looked at: evenly over the journal, and on both sides of each compression. */
export function samples(first: number, head: number, compressions: readonly number[]): number[] {
  const COUNT = 20;
  const even = Array.from({ length: COUNT }, (_, step) => Math.round(first + (step / (COUNT - 1)) * (head - first)));
  const around = compressions.slice(-6).flatMap((seq) => [seq - 1, seq]);
  return [...new Set([...even, ...around])].filter((seq) => seq >= first && seq <= head).sort((a, b) => a - b);
}

/** What a prompt of an agent would have taken as of each of some entries. Nothing is recorded. */
export async function readHistory(
  session: LiveSession,
  ask: { agent: string; thread: string },
  places: readonly number[],
  signal: AbortSignal,
): Promise<Point[]> {
  const points: Point[] = [];
  for (const at of places) {
    try {
      const made = await session.api.post("/v1/sessions/{session}/prompt", { body: { ...ask, at }, signal });
      points.push({ seq: at, tokens: made.tokens, parts: made.parts });
    } catch (error) {
      signal.throwIfAborted();
      // Before the agent or the thread was there, and where a prompt did not fit, there is no size.
      if (!(error instanceof Error) || !("status" in error) || Number(error.status) < 400) throw error;
    }
  }
  return points;
}

/** Compressions of a thread that stand, the oldest first. */
export function standing(entries: readonly Entry[]): Entry[] {
  const undone = new Set(
    entries.filter((entry) => entry.type === "conversation.compression_undone").map((entry) => entry.data["seq"]),
  );
  return entries.filter((entry) => entry.type === "conversation.compressed" && !undone.has(entry.seq));
}

/** The entries of the messages that are pinned. */
export function pinned(entries: readonly Entry[]): { seq: number; id: string }[] {
  const pins = new Map<number, string>();
  for (const { type, data } of entries) {
    if (type === "message.pinned") pins.set(Number(data["seq"]), String(data["message_id"]));
    if (type === "message.unpinned") pins.delete(Number(data["seq"]));
  }
  return [...pins].map(([seq, id]) => ({ seq, id }));
}

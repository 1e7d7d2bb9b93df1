/** Reading the journal: one entry, the entries about a thing, and pages of it with the newest first. */

import type { Entry } from "../api/types";
import type { LiveSession } from "./session.svelte";

/** Which entries are wanted. */
export interface Filter {
  /** Types, separated by commas. */
  types?: string | undefined;
  /** What they are about, such as `set:Brief`. */
  subject?: string | undefined;
  /** `user`, `system` or an agent. */
  by?: string | undefined;
  /** An agent that can see them. */
  audience?: string | undefined;
  /** A text in them. */
  q?: string | undefined;
}

interface Query extends Filter {
  after?: number;
  before?: number | undefined;
  limit?: number | undefined;
  order?: "desc";
  sentences?: boolean;
}

interface Page {
  entries: Entry[];
  /** Where the next page begins; absent where there are no more. */
  next?: number | undefined;
}

async function ask(session: LiveSession, query: Query, signal?: AbortSignal): Promise<Page> {
  const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined && value !== ""));
  const options = { query: given as { after?: number }, ...(signal ? { signal } : {}) };
  const page: object = await session.api.get("/v1/sessions/{session}/journal", options);
  return page as Page;
}

/** The event that stands for such an entry where the viewer is an agent. */
export const REWRITTEN = "entries.changed";

/** Whether an entry says that words of earlier ones are hidden, or there again: what was read before is out of date. */
export function isRewriting({ type }: Entry): boolean {
  return ["entry.erased", "secret.hidden", "secret.restored", REWRITTEN].includes(type);
}

/** Whether an entry may change which earlier ones an agent sees: what is hidden from it looks deleted to it. */
export function isOfSight({ type }: Entry): boolean {
  return /^(thread\.|agent\.|context_set\.deleted$|document\.removed$)/.test(type);
}

/** Entries from `after` on, the oldest first. */
export async function readEntries(
  session: LiveSession,
  { after = 0, ...filter }: Filter & { after?: number; limit?: number },
  signal?: AbortSignal,
): Promise<Entry[]> {
  return (await ask(session, { after, ...filter, sentences: true }, signal)).entries;
}

/** One entry; `undefined` where the viewer may not see it. */
export async function readEntry(session: LiveSession, seq: number, signal?: AbortSignal): Promise<Entry | undefined> {
  const [entry] = await readEntries(session, { after: seq - 1, limit: 1 }, signal);
  return entry?.seq === seq ? entry : undefined;
}

/** A page of the newest entries before `before`, the newest first. */
export async function readNewest(
  session: LiveSession,
  filter: Filter,
  before: number,
  limit: number,
  signal?: AbortSignal,
): Promise<Page> {
  return ask(session, { ...filter, before, limit, order: "desc", sentences: true }, signal);
}

/** What an entry says in a line. Entries that come over the stream have no sentence. */
export function sentence(entry: Entry): string {
  if (entry.sentence) return entry.sentence;
  const { data, subject } = entry;
  const about = subject.slice(subject.indexOf(":") + 1);
  const says = ["content", "message", "reason", "summary", "display", "tool", "path", "title", "status"]
    .map((field) => data[field])
    .find((value) => typeof value === "string" && value !== "");
  return [about, says].filter(Boolean).join(" · ").replace(/\s+/g, " ").slice(0, 160);
}

/** What the journal says of who may see what, as of any entry: sets, threads, and when agents joined. */

import type { Audience, Entry } from "../../api/types";
import { sees } from "../../design/audience";
import { isRewriting } from "../../session/journal";
import { useSession } from "../../session/session.svelte";
import { live, type Live } from "../../session/live.svelte";

const TYPES = ["agent.added", "context_set.updated", "context_set.deleted", "thread.updated", "turn.requested"];

/** Since which entry something is so, and who made it so. */
export interface Since {
  seq: number;
  by: string;
}

export interface SetThen {
  name: string;
  visible_to: Audience;
  enabled: boolean;
  /** The entry that wrote it last, and which version that was. */
  entry: Entry;
  version: number;
}

export class Past {
  constructor(private readonly entries: readonly Entry[]) {}

  /** The sets that there were as of an entry. */
  setsAt(at: number): SetThen[] {
    const sets = new Map<string, SetThen>();
    for (const entry of this.entries) {
      if (entry.seq > at) break;
      const name = nameOf(entry);
      if (entry.type === "context_set.deleted") sets.delete(name);
      if (entry.type !== "context_set.updated") continue;
      const { visible_to, enabled } = entry.data as unknown as SetThen;
      const version = (sets.get(name)?.version ?? 0) + 1;
      sets.set(name, { name, visible_to, enabled, entry, version });
    }
    return [...sets.values()];
  }

  setAt(name: string, at: number): SetThen | undefined {
    return this.setsAt(at).find((set) => set.name === name);
  }

  /** Since when a set that is kept from an agent has been kept from it. */
  hiddenSince(name: string, agent: string, at: number): Since | undefined {
    return this.since(name, at, (set) => !sees(set.visible_to, agent));
  }

  /** Since when a set that is off has been off. */
  offSince(name: string, at: number): Since | undefined {
    return this.since(name, at, (set) => !set.enabled);
  }

  private since(name: string, at: number, holds: (set: SetThen) => boolean): Since | undefined {
    let found: Since | undefined;
    for (const { seq, by, type, data, subject } of this.entries) {
      if (seq > at) break;
      if (subject !== `set:${name}`) continue;
      if (type === "context_set.deleted" || !holds(data as unknown as SetThen)) found = undefined;
      else found ??= { seq, by };
    }
    return found;
  }

  /** Who could see a thread as of an entry. */
  threadAt(thread: string, at: number): Audience {
    const last = this.entries.findLast((entry) => entry.seq <= at && entry.subject === `thread:${thread}`);
    return (last?.data["visible_to"] as Audience | undefined) ?? "all";
  }

  /** The entry with which an agent joined. */
  joined(agent: string): number | undefined {
    return this.entries.find((entry) => entry.type === "agent.added" && entry.data["name"] === agent)?.seq;
  }

  /** The turns of an agent whose prompts showed an entry. */
  turnsThatShowed(seq: number, agent: string): number[] {
    return this.entries.filter((entry) => entry.data["agent"] === agent && shows(entry, seq)).map((entry) => entry.seq);
  }
}

const nameOf = (entry: Entry) => entry.subject.slice("set:".length);

function shows(entry: Entry, seq: number): boolean {
  if (entry.type !== "turn.requested") return false;
  const ranges = (entry.data["prompt"] as { shows?: [number, number][] } | undefined)?.shows ?? [];
  return ranges.some(([first, last]) => first <= seq && seq <= last);
}

/** The past, read once; what is new is added as it comes. Where words of it were hidden, it is read again. */
export function past(): Live<Past> {
  const session = useSession();
  let entries: Entry[] = [];
  let isOutOfDate = false;
  return live(
    async (signal) => {
      if (isOutOfDate) entries = [];
      isOutOfDate = false;
      const known = entries;
      const query = { types: TYPES.join(","), after: known.at(-1)?.seq ?? 0 };
      const page = await session.api.get("/v1/sessions/{session}/journal", { query, signal });
      signal.throwIfAborted();
      entries = [...known, ...(page.entries as Entry[])];
      return new Past(entries);
    },
    (entry) => {
      isOutOfDate ||= isRewriting(entry);
      return TYPES.includes(entry.type);
    },
  );
}

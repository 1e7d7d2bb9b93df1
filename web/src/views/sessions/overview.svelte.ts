/** All sessions, live while the list is on the screen. */

import { server } from "../../api/client";
import { Problem } from "../../api/problem";
import type { Session } from "../../api/types";
import { EventStream } from "../../session/stream";

export type Group = "Needs you" | "Running" | "Paused" | "Earlier";

export const GROUPS: Group[] = ["Needs you", "Running", "Paused", "Earlier"];

export interface Row {
  session: Session;
  group: Group;
}

/** Whether the list is as the server has it. */
export type Connection = "connecting" | "live" | "lost";

export class Overview {
  connection = $state<Connection>("connecting");
  problem = $state.raw<Problem>();
  /** Whether the list has been read. */
  isRead = $state(false);

  private sessions = $state.raw<ReadonlyMap<string, Session>>(new Map());
  private stream: EventStream | undefined;
  /** What happened since the list is being read: the answer does not know of it. */
  private meanwhile: ((sessions: Map<string, Session>) => void)[] | undefined;
  private aborter = new AbortController();

  /** Those that were used last come first. */
  rows = $derived(
    [...this.sessions.values()].sort(byUse).map((session): Row => ({ session, group: groupOf(session) })),
  );

  /** Follows the list until the answer is called. */
  follow(): () => void {
    this.stream = new EventStream(() => server.url("/v1/events"), {
      event: (type, data) => this.hear(type, data),
      connected: () => void this.read(),
      lost: () => {
        this.connection = "lost";
      },
      refused: (problem) => {
        this.connection = "lost";
        this.problem = problem;
      },
    });
    return () => {
      this.stream?.close();
      this.aborter.abort();
    };
  }

  /** Tries again now. */
  retry(): void {
    if (this.connection === "lost") this.stream?.retry();
    else void this.read();
  }

  private hear(type: string, data: string): void {
    if (type === "sessions.changed") return void this.read();
    const told = JSON.parse(data) as Session;
    const change = (sessions: Map<string, Session>) => {
      if (type === "session.gone") sessions.delete(told.id);
      else if (type === "session.changed") sessions.set(told.id, told);
    };
    this.meanwhile?.push(change);
    const sessions = new Map(this.sessions);
    change(sessions);
    this.sessions = sessions;
  }

  /** Reads the whole list. */
  private async read(): Promise<void> {
    this.aborter.abort();
    const { signal } = (this.aborter = new AbortController());
    const meanwhile = (this.meanwhile = [] as NonNullable<typeof this.meanwhile>);
    try {
      const sessions = new Map((await readAll(signal)).map((session) => [session.id, session]));
      signal.throwIfAborted();
      meanwhile.forEach((change) => change(sessions));
      this.sessions = sessions;
      this.connection = "live";
      this.isRead = true;
      this.problem = undefined;
    } catch (error) {
      if (!signal.aborted) this.problem = Problem.from(error);
    } finally {
      if (this.meanwhile === meanwhile) this.meanwhile = undefined;
    }
  }
}

async function readAll(signal: AbortSignal): Promise<Session[]> {
  const all: Session[] = [];
  let cursor: string | undefined;
  do {
    const query = { order: "recent" as const, ...(cursor ? { cursor } : {}) };
    const page = await server.get("/v1/sessions", { query, signal });
    all.push(...page.sessions);
    cursor = page.next_cursor ?? undefined;
  } while (cursor);
  return all;
}

/** Whether the title or the id of a session has these words. */
export function matches({ title, id }: Session, words: string): boolean {
  return [title ?? "", id].some((text) => text.toLowerCase().includes(words.toLowerCase()));
}

function byUse(one: Session, other: Session): number {
  return Date.parse(other.last_activity) - Date.parse(one.last_activity) || (one.id < other.id ? 1 : -1);
}

function groupOf({ needs_user, run }: Session): Group {
  if (needs_user) return "Needs you";
  if (run?.status === "running" || run?.status === "awaiting_tool") return "Running";
  return run?.status === "paused" ? "Paused" : "Earlier";
}

/** All sessions, kept fresh while the list is on the screen. */

import { server } from "../../api/client";
import { Problem } from "../../api/problem";
import type { Session } from "../../api/types";

export type Group = "Needs you" | "Running" | "Paused" | "Earlier";

export const GROUPS: Group[] = ["Needs you", "Running", "Paused", "Earlier"];

export interface Row {
  session: Session;
  group: Group;
}

const REFRESH = 3_000;

export class Overview {
  sessions = $state.raw<Session[]>();
  problem = $state.raw<Problem>();
  /** Whether these are only the ones that were searched for. */
  isFiltered = $state(false);

  rows = $derived((this.sessions ?? []).map((session): Row => ({ session, group: groupOf(session) })));

  /** The number of the last reading: an answer that comes late does not replace a later one. */
  private reading = 0;

  /** Reads now those whose title or id has these words, and again and again until the answer is called. */
  follow(words: string): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const turn = async () => {
      if (!document.hidden) await this.read(words);
      if (!isOver) timer = setTimeout(turn, REFRESH);
    };
    void turn();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }

  async read(words: string): Promise<void> {
    const reading = (this.reading += 1);
    try {
      const query = { order: "recent" as const, ...(words ? { q: words } : {}) };
      const sessions = await readAll(query);
      if (reading !== this.reading) return;
      this.sessions = sessions;
      this.isFiltered = words !== "";
      this.problem = undefined;
    } catch (error) {
      if (reading === this.reading) this.problem = Problem.from(error);
    }
  }
}

async function readAll(query: { order: "recent"; q?: string }): Promise<Session[]> {
  const all: Session[] = [];
  let cursor: string | undefined;
  do {
    const page = await server.get("/v1/sessions", { query: { ...query, ...(cursor ? { cursor } : {}) } });
    all.push(...page.sessions);
    cursor = page.next_cursor ?? undefined;
  } while (cursor);
  return all;
}

function groupOf({ needs_user, run }: Session): Group {
  if (needs_user) return "Needs you";
  if (run?.status === "running" || run?.status === "awaiting_tool") return "Running";
  return run?.status === "paused" ? "Paused" : "Earlier";
}

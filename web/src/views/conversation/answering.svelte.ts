/** Answers of models as they come. They are in no entry yet, so what is lost of them is not asked for again. */

import type { Delta, Entry } from "../../api/types";
import type { LiveSession } from "../../session/session.svelte";

export interface Answer {
  key: string;
  run: string;
  agent: string;
  text: string;
  /** Whether it is there from its first word. */
  isWhole: boolean;
}

/** Pieces that come within so many milliseconds are shown together. */
const TOGETHER = 30;

export class Answering {
  answers = $state.raw<Answer[]>([]);
  /** For readers of the page: who answers, and who has. */
  told = $state("");

  private readonly under = new Map<string, Answer>();
  /** The turns that are over. What is still said of one comes late: pieces and entries go different ways. */
  private readonly over = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly session: LiveSession) {}

  start(): () => void {
    const ends = [
      this.session.onDelta((delta) => this.piece(delta)),
      this.session.onEntry((entry) => this.entry(entry)),
    ];
    return () => {
      ends.forEach((end) => end());
      clearTimeout(this.timer);
    };
  }

  /** The connection broke off, so pieces are missing. */
  lost(): void {
    this.under.clear();
    this.show();
  }

  private piece({ run, turn, agent, text }: Delta): void {
    if (this.over.has(`${run} ${turn}`)) return;
    const answer = this.begin(run, turn, agent, false);
    answer.text += text;
    this.later();
  }

  private begin(run: string, turn: number, agent: string, isWhole: boolean): Answer {
    const key = `${run} ${turn}`;
    const there = this.under.get(key);
    if (there) return there;
    const answer = { key, run, agent, text: "", isWhole };
    this.under.set(key, answer);
    this.told = `${agent} is answering`;
    this.later();
    return answer;
  }

  private entry(entry: Entry): void {
    const run = entry.data["run"];
    if (typeof run !== "string") return;
    const { turn, agent, usage } = entry.data as {
      turn: number;
      agent: string;
      usage?: { completion_tokens?: number };
    };
    if (entry.type === "turn.requested") this.begin(run, turn, agent, true);
    else if (entry.type === "turn.answered" || entry.type === "turn.failed") {
      this.over.add(`${run} ${turn}`);
      if (!this.under.delete(`${run} ${turn}`)) return;
      const tokens = usage?.completion_tokens === undefined ? "" : `, ${usage.completion_tokens} tokens`;
      this.told = entry.type === "turn.failed" ? `${agent} gave no answer` : `${agent} has answered${tokens}`;
      // At once, since its message has come.
      this.show();
    } else if (entry.type === "run.paused" || entry.type === "run.ended") {
      for (const [key, answer] of this.under) if (answer.run === run) this.under.delete(key);
      this.show();
    }
  }

  private later(): void {
    this.timer ??= setTimeout(() => this.show(), TOGETHER);
  }

  private show(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.answers = [...this.under.values()].map((answer) => ({ ...answer }));
  }
}

/** What a manager's answer says so far: it is a directive in JSON, whose message is what people want to read. */
export function readable(text: string): { to?: string; text: string } {
  if (!text.trimStart().startsWith("{")) return { text };
  const to = stringAfter(text, "messageTo");
  return { ...(to ? { to } : {}), text: stringAfter(text, "message") ?? "" };
}

/** The string that a key of JSON has, as far as it has come. */
function stringAfter(json: string, key: string): string | undefined {
  const [, raw] = new RegExp(`"${key}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)`, "s").exec(json) ?? [];
  if (raw === undefined) return undefined;
  try {
    return JSON.parse(`"${raw.replace(/\\(u[\da-fA-F]{0,3})?$/, "")}"`) as string;
  } catch {
    // A line end that stands bare is no JSON, but it can be read.
    return raw;
  }
}

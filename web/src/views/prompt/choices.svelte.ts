/** What the address says of the prompt that is looked at, and what holds where it says nothing. */

import type { Thread, Turn } from "../../api/types";
import { sees } from "../../design/audience";
import { route, setQuery } from "../../route.svelte";
import { live, type Live } from "../../session/live.svelte";
import type { LiveSession } from "../../session/session.svelte";
import type { Wish } from "./asked.svelte";

export const FORMATS = ["text", "openai", "responses", "anthropic"] as const;
export const LAYOUTS = ["team", "plain", "director"] as const;
export const BUDGETS = [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 200_000];

/** The number of turns that the slider has places for. */
const TURNS = 500;

/** How long a moving slider rests before the address says where it is: browsers slow down pages that change it often. */
const REST = 150;

export class Choices {
  readonly threads: Live<Thread[]>;
  readonly turns: Live<Turn[]>;
  /** Where the slider is while it moves. */
  private sliding = $state<number>();
  private rest: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly session: LiveSession) {
    this.threads = live(
      async (signal) => (await session.api.get("/v1/sessions/{session}/threads", { signal })).threads,
      ["thread.", "message.added"],
    );
    this.turns = live(
      async (signal) =>
        (await session.api.get("/v1/sessions/{session}/turns", { query: { limit: TURNS }, signal })).turns,
      ["turn."],
    );
    $effect(() => () => clearTimeout(this.rest));
  }

  /** The agents whose prompts the viewer may look at. */
  get agents(): string[] {
    return this.session.sighted.map((agent) => agent.name);
  }

  get agent(): string {
    const chosen = this.agents.find((name) => name === route.query["agent"]);
    return chosen ?? this.session.viewer ?? this.session.manager?.name ?? this.agents[0] ?? "";
  }

  threadsOf(agent: string): string[] {
    const seen = (this.threads.value ?? []).filter((thread) => sees(thread.visible_to, agent));
    return seen.map((thread) => thread.name);
  }

  /** The thread for an agent: what the address says, `main`, else one that it sees. Absent, the server says which. */
  threadFor(agent: string): string | undefined {
    const seen = this.threadsOf(agent);
    const wanted = route.query["thread"];
    if (wanted && (seen.includes(wanted) || this.threads.value === undefined)) return wanted;
    return seen.includes("main") ? undefined : seen[0];
  }

  get format() {
    return FORMATS.find((one) => one === route.query["format"]) ?? "text";
  }

  get layout() {
    return LAYOUTS.find((one) => one === route.query["layout"]);
  }

  get budget(): number | undefined {
    return whole(route.query["budget"]);
  }

  get model(): string | undefined {
    return route.query["model"];
  }

  /** The turn whose prompt is looked at as it was sent. */
  get turn(): number | undefined {
    return this.session.isUser ? whole(route.query["turn"]) : undefined;
  }

  /** The entry as of which one looks; absent for now. */
  get at(): number | undefined {
    if (!this.session.isUser) return undefined;
    return this.sliding ?? whole(route.query["at"]);
  }

  /** The same as a number that is always there. */
  get shownAt(): number {
    return Math.min(this.at ?? this.session.head, this.session.head);
  }

  slide(to: number): void {
    this.sliding = to;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => {
      setQuery({ at: to === this.session.head ? null : to, turn: null }, "replace");
      this.sliding = undefined;
    }, REST);
  }

  toNow(): void {
    clearTimeout(this.rest);
    this.sliding = undefined;
    setQuery({ at: null, turn: null });
  }

  /** What to ask the server for. */
  wish(change: Partial<Wish> = {}): Wish {
    const agent = change.agent ?? this.agent;
    const { at, budget, layout, model, format } = this;
    const now = at === undefined && change.at === undefined ? { head: this.session.head } : {};
    return { agent, thread: this.threadFor(agent), format, budget, layout, model, at, ...now, ...change };
  }
}

const whole = (text: string | undefined) => (text && /^\d+$/.test(text) ? Number(text) : undefined);

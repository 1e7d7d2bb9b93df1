/** The rows of the timeline, the newest first. What is in sight is loaded, and nothing else. */

import { untrack } from "svelte";
import { SvelteMap } from "svelte/reactivity";

import { Problem } from "../../api/problem";
import type { Entry } from "../../api/types";
import { readEntries, readNewest, type Filter } from "../../session/journal";
import type { LiveSession } from "../../session/session.svelte";

/** How many entries one call asks for. */
const PAGE = 200;

/**
 * The user sees every entry, so without a filter the rows are known: the numbers from the head down to 1. With one, and
 * for agents, they are found page by page, as one goes on.
 */
export class Rows {
  /** Numbers of entries. */
  numbers = $state.raw<number[]>([]);
  problem = $state.raw<Problem>();
  /** Whether nothing was found yet, and there may be something. */
  loading = $state(true);
  private readonly entries = new SvelteMap<number, Entry>();
  private readonly isWhole: boolean;
  private readonly aborter = new AbortController();
  private readonly asked = new Set<number>();
  private next: number | undefined;
  private newest = 0;
  private isUnderWay = false;

  constructor(
    private readonly session: LiveSession,
    private readonly filter: Filter,
  ) {
    this.isWhole = session.isUser && !Object.values(filter).some(Boolean);
    this.newest = untrack(() => session.head);
    this.next = this.newest + 1;
    if (this.isWhole) this.reach(this.newest);
    else void this.more();
  }

  entry(seq: number): Entry | undefined {
    return this.entries.get(seq);
  }

  close(): void {
    this.aborter.abort();
  }

  /** A new entry came. */
  hear(entry: Entry): void {
    if (entry.type === "entry.erased") this.forget();
    if (this.isWhole) this.reach(entry.seq);
    else void this.fresh();
  }

  /** Loads the entries around this one, which came in sight. */
  want(seq: number): void {
    const page = Math.floor((seq - 1) / PAGE);
    if (this.entries.has(seq) || this.asked.has(page)) return;
    this.asked.add(page);
    void this.attempt(async () => {
      const after = page * PAGE;
      this.keep(await readEntries(this.session, { after, limit: PAGE }, this.aborter.signal));
    }).finally(() => this.asked.delete(page));
  }

  /** Finds older ones. */
  async more(): Promise<void> {
    if (this.isWhole || this.isUnderWay || this.next === undefined) return;
    this.isUnderWay = true;
    await this.attempt(async () => {
      let found = 0;
      // A page looks at some thousand entries, of which few may fit.
      while (found < PAGE / 4 && this.next !== undefined) {
        const page = await readNewest(this.session, this.filter, this.next, PAGE, this.aborter.signal);
        this.next = page.next;
        found += page.entries.length;
        this.keep(page.entries);
        this.numbers = [...this.numbers, ...page.entries.map((entry) => entry.seq)];
      }
    });
    this.isUnderWay = false;
    this.loading = false;
  }

  /** Finds those that came since. */
  private async fresh(): Promise<void> {
    await this.attempt(async () => {
      const after = this.newest;
      this.newest = this.session.head;
      const entries = await readEntries(this.session, { ...this.filter, after }, this.aborter.signal);
      this.keep(entries);
      const known = new Set(this.numbers);
      const seqs = entries.map((entry) => entry.seq).filter((seq) => !known.has(seq));
      this.numbers = [...seqs.reverse(), ...this.numbers];
    });
  }

  private reach(head: number): void {
    this.loading = false;
    this.numbers = Array.from({ length: head }, (_, index) => head - index);
  }

  /** What was erased is shown no longer. */
  private forget(): void {
    this.entries.clear();
    if (!this.isWhole) void this.reload();
  }

  private async reload(): Promise<void> {
    this.numbers = [];
    this.next = this.session.head + 1;
    await this.more();
  }

  private keep(entries: readonly Entry[]): void {
    for (const entry of entries) this.entries.set(entry.seq, entry);
  }

  private async attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act();
      this.problem = undefined;
    } catch (error) {
      if (!this.aborter.signal.aborted) this.problem = Problem.from(error);
    }
  }
}

/** The rows of the timeline, the newest first. What is in sight is loaded, and nothing else. */

import { untrack } from "svelte";
import { SvelteMap } from "svelte/reactivity";

import { Problem } from "../../api/problem";
import type { Entry } from "../../api/types";
import { isOfSight, isRewriting, readEntries, readNewest, type Filter } from "../../session/journal";
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
  private aborter = new AbortController();
  private readonly asked = new Set<number>();
  private next: number | undefined;
  private newest = 0;
  private isUnderWay = false;
  /** Whether those that came are being found, and whether others have come meanwhile. */
  private isFreshening = false;
  private isBehind = false;

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
    if (isRewriting(entry) || (!this.session.isUser && isOfSight(entry))) this.forget();
    if (this.isWhole) this.reach(entry.seq);
    else void this.fresh();
  }

  /** Loads the entries around this one, which came in sight. */
  want(seq: number): void {
    const page = Math.floor((seq - 1) / PAGE);
    if (!this.entries.has(seq) && !this.asked.has(page)) this.load(page);
  }

  private load(page: number): void {
    this.asked.add(page);
    void this.attempt(async (signal) => {
      const after = page * PAGE;
      this.keep(await readEntries(this.session, { after, limit: PAGE }, signal), signal);
    }).then((isCurrent) => isCurrent && this.asked.delete(page));
  }

  /** Finds older ones. */
  async more(): Promise<void> {
    if (this.isWhole || this.isUnderWay || this.next === undefined) return;
    this.isUnderWay = true;
    const isCurrent = await this.attempt(async (signal) => {
      let found = 0;
      // A page looks at some thousand entries, of which few may fit.
      while (found < PAGE / 4 && this.next !== undefined) {
        const page = await readNewest(this.session, this.filter, this.next, PAGE, signal);
        this.keep(page.entries, signal);
        this.next = page.next;
        found += page.entries.length;
        this.numbers = [...this.numbers, ...page.entries.map((entry) => entry.seq)];
      }
    });
    if (!isCurrent) return;
    this.isUnderWay = false;
    this.loading = false;
  }

  /** Finds those that came since: one call after the other, so that they stand in their order. */
  private async fresh(): Promise<void> {
    this.isBehind = true;
    if (this.isFreshening) return;
    this.isFreshening = true;
    const isCurrent = await this.attempt(async (signal) => {
      while (this.isBehind) {
        this.isBehind = false;
        const { head } = this.session;
        const entries = await readEntries(this.session, { ...this.filter, after: this.newest }, signal);
        this.keep(entries, signal);
        this.newest = head;
        const known = new Set(this.numbers);
        const seqs = entries.map((entry) => entry.seq).filter((seq) => !known.has(seq));
        this.numbers = [...seqs.reverse(), ...this.numbers];
      }
    });
    if (!isCurrent) return;
    this.isFreshening = false;
    if (this.isBehind) void this.fresh();
  }

  private reach(head: number): void {
    this.loading = false;
    this.numbers = Array.from({ length: head }, (_, index) => head - index);
  }

  /** Words that were hidden are shown no longer, also not by an answer that is on its way. */
  private forget(): void {
    this.aborter.abort();
    this.aborter = new AbortController();
    const pages = [...this.asked];
    this.asked.clear();
    this.entries.clear();
    this.isUnderWay = this.isFreshening = false;
    if (!this.isWhole) void this.reload();
    else pages.forEach((page) => this.load(page));
  }

  private async reload(): Promise<void> {
    this.numbers = [];
    this.newest = this.session.head;
    this.next = this.newest + 1;
    await this.more();
  }

  private keep(entries: readonly Entry[], signal: AbortSignal): void {
    signal.throwIfAborted();
    for (const entry of entries) this.entries.set(entry.seq, entry);
  }

  /** Does this; the answer is whether what it did counts still. */
  private async attempt(act: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
    const { signal } = this.aborter;
    try {
      await act(signal);
      this.problem = undefined;
    } catch (error) {
      if (!signal.aborted) this.problem = Problem.from(error);
    }
    return !signal.aborted;
  }
}

/**
 * The entries of the conversation: the newest first of all, others page by page as one scrolls. Only those near what is
 * in sight are kept, so a history of any length takes little memory.
 */

import { untrack } from "svelte";

import { Problem } from "../../api/problem";
import type { Entry } from "../../api/types";
import { isOfSight, isRewriting } from "../../session/journal";
import type { LiveSession } from "../../session/session.svelte";
import { SIDE_TYPES, TYPES } from "./entries";

/** How many entries, or messages of a thread, one page has. */
const PAGE = 120;
/** How many entries are kept when the far end is dropped. */
const KEPT = 600;
/** How many entries after a wanted one are loaded with it. */
const AFTER_WANTED = 40;
/** The most that is read of what stands beside the messages of one page. */
const MOST_BESIDE = 5_000;

/** Numbers of the journal, both ends left out, and from which end to read. */
interface Span {
  after: number;
  before?: number;
  order: "asc" | "desc";
  limit?: number;
}

/** In the order of their numbers, and whether the span has no more. */
interface Page {
  entries: Entry[];
  isAll: boolean;
}

export class Feed {
  /** In the order of their numbers, without gaps. */
  entries = $state.raw<Entry[]>([]);
  /** Whether the first page has come. */
  isReady = $state(false);
  isLoading = $state(false);
  /** Whether the beginning is among the entries. */
  isWhole = $state(false);
  /** Whether the end is among the entries. */
  isLatest = $state(true);
  /** How many messages came that are not among the entries. */
  fresh = $state(0);
  problem = $state.raw<Problem>();

  /** What came while a page was on its way. */
  private heard: Entry[] = [];
  private aborter = new AbortController();

  constructor(
    private readonly session: LiveSession,
    /** Only this thread; all if absent. */
    private readonly thread: string | undefined,
    /** As of this entry; now if absent. */
    private readonly at: number | undefined,
  ) {}

  /** Loads the newest page, or the one around an entry, and follows what comes, until the answer is called. */
  start(around?: number): () => void {
    const end = this.at === undefined ? this.session.onEntry((entry) => this.hear(entry)) : () => undefined;
    // It reads what changes with each entry, and must not begin anew then.
    untrack(() => void (around === undefined ? this.toEnd() : this.toEntry(around)));
    return () => {
      end();
      this.aborter.abort();
    };
  }

  /** Loads the page before what is there. `drops`: what is far behind may go. */
  async older(drops = true): Promise<void> {
    if (!this.isReady || this.isWhole || this.isLoading || this.problem) return;
    if (drops && this.entries.length > 2 * KEPT) {
      this.entries = this.entries.slice(0, KEPT);
      this.isLatest = false;
    }
    const before = this.entries[0]?.seq ?? this.end + 1;
    await this.load({ after: 0, before, order: "desc", limit: PAGE }, ({ entries, isAll }) => {
      this.entries = [...entries, ...this.entries];
      this.isWhole = isAll;
    });
  }

  /** Loads the page after what is there. `drops`: what is far before may go. */
  async newer(drops = true): Promise<void> {
    if (!this.isReady || this.isLoading || this.problem) return;
    if (drops && this.entries.length > 2 * KEPT) {
      this.entries = this.entries.slice(-KEPT);
      this.isWhole = false;
    }
    if (this.isLatest) return;
    const after = this.entries.at(-1)?.seq ?? 0;
    await this.load({ after, ...this.upToNow(), order: "asc", limit: PAGE }, ({ entries, isAll }) => {
      this.entries = [...this.entries, ...entries];
      if (isAll) this.reachEnd();
    });
  }

  /** Shows the beginning. */
  async toStart(): Promise<void> {
    if (this.isWhole) return;
    this.abort();
    await this.load({ after: 0, ...this.upToNow(), order: "asc", limit: PAGE }, ({ entries, isAll }) => {
      this.entries = entries;
      this.isWhole = true;
      this.isLatest = false;
      if (isAll) this.reachEnd();
    });
  }

  /** Shows the end. */
  async toEnd(): Promise<void> {
    if (this.isReady && this.isLatest) return;
    this.abort();
    await this.load({ after: 0, before: this.end + 1, order: "desc", limit: PAGE }, ({ entries, isAll }) => {
      this.entries = entries;
      this.isWhole = isAll;
      this.reachEnd();
    });
  }

  /** Shows what is around an entry. */
  async toEntry(seq: number): Promise<void> {
    const isAfterFirst = this.isWhole || seq >= (this.entries[0]?.seq ?? 0);
    const isBeforeLast = this.isLatest || seq <= (this.entries.at(-1)?.seq ?? 0);
    if (this.isReady && isAfterFirst && isBeforeLast) return;
    this.abort();
    const isToEnd = seq + AFTER_WANTED > this.end;
    const before = Math.min(seq + AFTER_WANTED, this.end + 1);
    await this.load({ after: 0, before, order: "desc", limit: PAGE }, ({ entries, isAll }) => {
      this.entries = entries;
      this.isWhole = isAll;
      this.isLatest = false;
      if (isToEnd) this.reachEnd();
    });
  }

  retry(): void {
    this.problem = undefined;
    void (this.isReady ? this.older() : this.toEnd());
  }

  /** The newest number that is shown. */
  private get end(): number {
    return this.at ?? this.session.head;
  }

  private upToNow(): { before?: number } {
    return this.at === undefined ? {} : { before: this.at + 1 };
  }

  /** Reads again what is there, since some of it has changed. What is shown stays until it has come. */
  private async again(): Promise<void> {
    const first = this.entries[0]?.seq;
    const last = this.entries.at(-1)?.seq;
    this.abort();
    const after = first === undefined || this.isWhole ? 0 : first - 1;
    const before = last === undefined || this.isLatest ? this.end + 1 : last + 1;
    await this.load({ after, before, order: "asc" }, ({ entries }) => {
      this.entries = entries;
      if (this.isLatest) this.reachEnd();
    });
  }

  private abort(): void {
    this.aborter.abort();
    this.aborter = new AbortController();
  }

  /** The end has been loaded: what was heard meanwhile belongs behind it. */
  private reachEnd(): void {
    const last = this.entries.at(-1)?.seq ?? 0;
    this.entries = [...this.entries, ...this.heard.filter((entry) => entry.seq > last)];
    this.isLatest = true;
    this.fresh = 0;
  }

  private async load(span: Span, join: (page: Page) => void): Promise<void> {
    const { signal } = this.aborter;
    this.isLoading = true;
    this.heard = [];
    try {
      const page = this.thread === undefined ? await this.ofAll(span, signal) : await this.ofThread(span, signal);
      if (signal.aborted) return;
      join(page);
      this.isReady = true;
      this.problem = undefined;
    } catch (error) {
      if (!signal.aborted) this.problem = Problem.from(error);
    } finally {
      if (!signal.aborted) this.isLoading = false;
    }
  }

  private async ofAll(span: Span, signal: AbortSignal): Promise<Page> {
    return this.read({ ...span, types: TYPES.join(",") }, signal);
  }

  private async ofThread(span: Span, signal: AbortSignal): Promise<Page> {
    const subject = `thread:${this.thread}`;
    const { entries: said, isAll } = await this.read({ ...span, types: "message.added", subject }, signal);
    const first = said[0]?.seq;
    const last = said.at(-1)?.seq;
    const after = isAll || span.order === "asc" || first === undefined ? span.after : first - 1;
    const before = isAll || span.order === "desc" || last === undefined ? span.before : last + 1;
    const beside = { after, ...(before === undefined ? {} : { before }), order: span.order, limit: MOST_BESIDE };
    const { entries: side } = await this.read({ ...beside, types: SIDE_TYPES.join(",") }, signal);
    return { entries: [...said, ...side].sort((one, other) => one.seq - other.seq), isAll };
  }

  private async read(query: Span & { types: string; subject?: string }, signal: AbortSignal): Promise<Page> {
    const { entries } = await this.session.api.get("/v1/sessions/{session}/journal", { query, signal });
    const found = entries as Entry[];
    const isAll = query.limit === undefined || found.length < query.limit;
    return { entries: query.order === "desc" ? found.reverse() : found, isAll };
  }

  private hear(entry: Entry): void {
    // Words that were hidden, and what an agent may no longer see or now may, change entries that are there.
    if (isRewriting(entry) || (!this.session.isUser && isOfSight(entry))) return void this.again();
    if (!TYPES.includes(entry.type)) return;
    const thread = entry.type === "message.added" ? entry.data["thread_id"] : this.thread;
    if (this.thread !== undefined && thread !== this.thread) return;
    if (this.isLoading) this.heard.push(entry);
    if (!this.isLatest) this.fresh += entry.type === "message.added" ? 1 : 0;
    else if (entry.seq > (this.entries.at(-1)?.seq ?? 0)) this.entries = [...this.entries, entry];
  }
}

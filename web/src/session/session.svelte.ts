/** The session that is open: who is in it, its head, its stream, and calls within it. */

import { getContext, setContext } from "svelte";

import { Client } from "../api/client";
import { Problem } from "../api/problem";
import type { Agent, Delta, Entry, Me, Run, Session } from "../api/types";
import { REWRITTEN } from "./journal";
import { EventStream } from "./stream";

export type Connection = "connecting" | "connected" | "lost" | "refused";

const KEY = Symbol("session");

/** The type of an event with a piece of a model's answer. */
const DELTA = "turn.delta";

/**
 * One session as the user or one agent sees it. It is made anew for another session or another agent, so that nothing
 * that one viewer saw stays in memory for the next.
 */
export class LiveSession {
  readonly api: Client;

  info = $state.raw<Session>();
  /** The newest run: the one that has not ended, if there is one. */
  run = $state.raw<Run>();
  /** The newest entry that is on the screen. */
  head = $state(0);
  connection = $state<Connection>("connecting");
  problem = $state.raw<Problem>();

  private stream: EventStream | undefined;
  /** The newest entry that the stream brought, where it goes on. The head may be ahead of it. */
  private last = 0;
  private readonly aborter = new AbortController();
  /** How many readings of the session and of its run were begun, and the newest of each that is shown. */
  private readings = 0;
  private shownInfo = 0;
  private shownRun = 0;
  private readonly entryListeners = new Set<(entry: Entry) => void>();
  private readonly deltaListeners = new Set<(delta: Delta) => void>();
  private readonly unstoredListeners = new Set<(type: string) => void>();

  constructor(
    readonly id: string,
    /** The agent with whose eyes one looks; absent for the user. */
    readonly as: string | undefined,
    /** Who the caller is: a user, or an agent by its token. */
    readonly me: Me,
  ) {
    this.api = new Client({ session: id }, as);
  }

  /** The team in its order of joining. */
  get agents(): Agent[] {
    return this.info?.agents ?? [];
  }

  /** Those of whom the viewer is told what they see: an agent of itself alone, unless it is in charge. */
  get sighted(): Agent[] {
    return this.isInCharge ? this.agents : this.agents.filter((agent) => agent.name === this.viewer);
  }

  get manager(): Agent | undefined {
    return this.agents.find((agent) => agent.role === "manager");
  }

  /** Whose view this is: an agent, or the user. */
  get viewer(): string | undefined {
    return this.as ?? (this.me.name === "user" ? undefined : this.me.name);
  }

  /** Whether what only the user may do is allowed. */
  get isUser(): boolean {
    return this.viewer === undefined;
  }

  /** Whether the viewer is the user or the manager. */
  get isInCharge(): boolean {
    return this.isUser || this.manager?.name === this.viewer;
  }

  /** The place of an agent in the team, from 1; 0 for one who is not in it. */
  place(agent: string): number {
    return this.agents.findIndex((one) => one.name === agent) + 1;
  }

  async open(): Promise<void> {
    this.problem = undefined;
    await this.refresh(() => this.readInfo());
    if (this.problem) return;
    // Without it there is enough to show, and it is read again once the stream is open.
    await this.refreshRun();
    if (this.aborter.signal.aborted) return;
    this.last = this.head;
    const url = () => this.api.url("/v1/sessions/{session}/events", {}, { after: this.last });
    this.stream = new EventStream(url, {
      event: (type, data) => this.hearEvent(type, data),
      connected: () => {
        this.connection = "connected";
        // What could not be read while the server was away is read when it is back.
        if (!this.problem) return;
        this.problem = undefined;
        void this.refresh(() => Promise.all([this.readInfo(), this.readRun()]));
      },
      lost: () => {
        this.connection = "lost";
      },
      refused: (problem) => {
        this.connection = "refused";
        this.problem = problem;
        // Of a session that is gone, nothing stays on the screen.
        if (problem.status === 404) this.forget();
      },
    });
  }

  close(): void {
    this.aborter.abort();
    this.stream?.close();
    this.entryListeners.clear();
    this.deltaListeners.clear();
    this.forget();
  }

  /** Tries now to get back to the server. */
  retry(): void {
    this.stream?.retry();
  }

  /** Calls `tell` for each new entry, and for an agent when earlier ones were changed, until the answer is called. */
  onEntry(tell: (entry: Entry) => void): () => void {
    this.entryListeners.add(tell);
    return () => this.entryListeners.delete(tell);
  }

  /** Calls `tell` for each piece of a model's answer, until the answer is called. */
  onDelta(tell: (delta: Delta) => void): () => void {
    this.deltaListeners.add(tell);
    return () => this.deltaListeners.delete(tell);
  }

  /** Calls `tell` with the type of each other event that is not stored, until the answer is called. */
  onUnstored(tell: (type: string) => void): () => void {
    this.unstoredListeners.add(tell);
    return () => this.unstoredListeners.delete(tell);
  }

  /** Reads how the run is now: after one has changed it, for the stream may tell of it later. */
  refreshRun(): Promise<void> {
    return this.refresh(() => this.readRun());
  }

  private forget(): void {
    this.info = undefined;
    this.run = undefined;
  }

  private hearEvent(type: string, data: string): void {
    if (type === DELTA) {
      const delta = JSON.parse(data) as Delta;
      return this.deltaListeners.forEach((tell) => tell(delta));
    }
    if (type === REWRITTEN) {
      const event: Entry = { seq: this.head, at: "", by: "user", type, subject: "entries", data: {} };
      return this.entryListeners.forEach((tell) => tell(event));
    }
    const entry = JSON.parse(data) as Entry | object;
    if (!("seq" in entry)) this.unstoredListeners.forEach((tell) => tell(type));
    else if (entry.seq > this.last) this.hear(entry);
  }

  private hear(entry: Entry): void {
    this.head = this.last = entry.seq;
    for (const tell of this.entryListeners) tell(entry);
    if (/^(agent|session)\./.test(entry.type)) void this.refresh(() => this.readInfo());
    else if (entry.type.startsWith("run.") || entry.type === "turn.answered") void this.refreshRun();
  }

  private async refresh(read: () => Promise<unknown>): Promise<void> {
    try {
      await read();
    } catch (error) {
      if (!this.aborter.signal.aborted) this.problem = Problem.from(error);
    }
  }

  private async readInfo(): Promise<void> {
    const reading = ++this.readings;
    const info = await this.api.get("/v1/sessions/{session}", { signal: this.aborter.signal });
    // An answer that was overtaken by that of a later reading is old.
    if (reading < this.shownInfo) return;
    this.shownInfo = reading;
    this.info = info;
    this.head = Math.max(this.head, info.head);
  }

  private async readRun(): Promise<void> {
    // Workers see runs only where the session shares them.
    if (!this.isInCharge && !this.info?.share?.includes("runs")) return;
    const reading = ++this.readings;
    const { runs } = await this.api.get("/v1/sessions/{session}/runs", { signal: this.aborter.signal });
    if (reading < this.shownRun) return;
    this.shownRun = reading;
    // The newest stands first. No run is started before the one before it has ended.
    this.run = runs[0];
  }
}

export function provideSession(session: LiveSession): void {
  setContext(KEY, session);
}

/** The open session, for any component within its frame. */
export function useSession(): LiveSession {
  return getContext<LiveSession>(KEY);
}

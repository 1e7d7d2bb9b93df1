/** An event stream: one request that stays open, and that goes on where it broke off. */

import { send } from "../api/client";
import { Problem } from "../api/problem";

export interface Listener {
  /** An event, with what it says as JSON. */
  event(type: string, data: string): void;
  /** The stream is open. */
  connected(): void;
  /** The stream broke off, and is tried again. */
  lost(): void;
  /** The server refuses the stream, so no further attempt is made. */
  refused(problem: Problem): void;
}

const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 10_000;

/** Silence for so long means a broken connection: the server sends a comment more often. */
const LONGEST_SILENCE = 45_000;

export class EventStream {
  private aborter = new AbortController();
  private pause = FIRST_PAUSE;
  private waking: (() => void) | undefined;
  private closed = false;

  constructor(
    /** Where it is. It is asked anew for each attempt, since it may say where to go on. */
    private readonly url: () => URL,
    private readonly listener: Listener,
  ) {
    void this.run();
  }

  /** Makes the next attempt now. */
  retry(): void {
    this.pause = FIRST_PAUSE;
    this.waking?.();
  }

  close(): void {
    this.closed = true;
    this.aborter.abort();
    this.waking?.();
  }

  private async run(): Promise<void> {
    while (!this.closed) {
      try {
        await this.read();
      } catch (error) {
        const problem = Problem.from(error);
        if (!this.closed && problem.status >= 400 && problem.status < 500 && problem.status !== 429) {
          this.listener.refused(problem);
          return;
        }
      }
      if (!this.closed) await this.rest();
    }
  }

  private async read(): Promise<void> {
    this.aborter = new AbortController();
    let silence: ReturnType<typeof setTimeout> | undefined;
    const listen = () => {
      clearTimeout(silence);
      silence = setTimeout(() => this.aborter.abort(), LONGEST_SILENCE);
    };
    listen();
    try {
      const response = await send(this.url(), {
        headers: { accept: "text/event-stream" },
        signal: this.aborter.signal,
      });
      if (!response.body) return;
      this.pause = FIRST_PAUSE;
      this.listener.connected();
      const texts = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const parser = new Parser((type, data) => {
        if (!this.closed) this.listener.event(type, data);
      });
      for (let read = await texts.read(); !read.done; read = await texts.read()) {
        listen();
        parser.push(read.value);
      }
    } finally {
      clearTimeout(silence);
    }
  }

  private async rest(): Promise<void> {
    // Some randomness, so that the pages that a server lost do not all come back at once.
    const pause = this.pause * (0.75 + Math.random() / 2);
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
    this.listener.lost();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pause);
      this.waking = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.waking = undefined;
  }
}

/** Server-sent events out of pieces of text. */
export class Parser {
  private rest = "";
  private event = "message";
  private data: string[] = [];

  constructor(private readonly tell: (event: string, data: string) => void) {}

  push(text: string): void {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.line(line.endsWith("\r") ? line.slice(0, -1) : line);
  }

  private line(line: string): void {
    if (line === "") return this.end();
    const colon = line.indexOf(":");
    const [field, value] = colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
    if (field === "event") this.event = value;
    if (field === "data") this.data.push(value);
  }

  private end(): void {
    if (this.data.length > 0) this.tell(this.event, this.data.join("\n"));
    this.event = "message";
    this.data = [];
  }
}

/**
 * A real server with a store of its own, and a real browser.
 *
 * `CALLBOARD_BIN` is the program (else the workspace's debug build). It serves the page that it was built with; with
 * `CALLBOARD_PAGE=built`, what `npm run build` made last stands in front of it, so a change of the page needs no build
 * of the program. Any other value is the folder of such a build.
 */

import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";

import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { preview, type PreviewServer } from "vite";

import { proxyTo } from "../vite.config";

const BINARY = process.env["CALLBOARD_BIN"] ?? new URL("../../target/debug/callboard", import.meta.url).pathname;
const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export class Harness {
  private pages: Page[] = [];

  private constructor(
    private readonly folder: string,
    private server: ChildProcess,
    /** Where the server itself is. */
    readonly api: string,
    private readonly front: PreviewServer | undefined,
    private readonly browser: Browser,
  ) {}

  static async start(args: string[] = []): Promise<Harness> {
    const folder = await mkdtemp(join(tmpdir(), "callboard-page-"));
    const [server, api] = await serve(folder, ["--port", "0", ...args]);
    const built = process.env["CALLBOARD_PAGE"];
    const build = built && built !== "built" ? { outDir: built } : {};
    const front = built ? await preview({ build, preview: { port: 0, proxy: proxyTo(api) } }) : undefined;
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS, timeout: 180_000 });
    return new Harness(folder, server, api, front, browser);
  }

  /** Where the page is, without a slash at the end. */
  get url(): string {
    return this.front?.resolvedUrls?.local[0]?.replace(/\/$/, "") ?? this.api;
  }

  /** A page of its own browser profile. What goes wrong in it fails `stop`. */
  async open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.browser.newContext({
      viewport: { width: 1440, height: 900 },
      locale: "en-GB",
      ...options,
    });
    // A machine that does other things too may be slow.
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    page.on("pageerror", (error) => this.faults.push(error.message));
    page.on("console", (message) => {
      // A policy that was broken is told on the console alone.
      if (message.text().includes("Content Security Policy")) this.faults.push(message.text());
    });
    await page.goto(`${this.url}/${path}`);
    this.pages.push(page);
    return page;
  }

  /** Errors of the pages, and what the policy refused. */
  readonly faults: string[] = [];

  /** Ends the server as a crash does. */
  async kill(): Promise<void> {
    await ended(this.server, "SIGKILL");
  }

  /** Starts the server again, at the same address and on the same store. */
  async restart(): Promise<void> {
    const start = () => serve(this.folder, ["--port", new URL(this.api).port]);
    // Another program may have taken the port for a while.
    for (let tries = 1; tries < 20; tries += 1) {
      const started = await start().catch(() => undefined);
      if (started) {
        [this.server] = started;
        return;
      }
      await setTimeout(500);
    }
    [this.server] = await start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.pages.map((page) => page.context().close()));
    await this.browser.close();
    await this.front?.close();
    await ended(this.server, "SIGTERM");
    await rm(this.folder, { recursive: true, force: true });
    if (this.faults.length > 0) throw new Error(`the page had faults:\n${this.faults.join("\n")}`);
  }
}

/** Starts the program and waits for its first line, which says where it listens. */
async function serve(folder: string, args: string[]): Promise<[ChildProcess, string]> {
  const all = ["serve", "--store", `sqlite:${join(folder, "team.db")}`, "--data", join(folder, "data"), ...args];
  const server = spawn(BINARY, all, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  const said: string[] = [];
  server.stderr?.on("data", (text: Buffer) => said.push(text.toString()));
  const url = await new Promise<string>((resolve, reject) => {
    server.once("error", (error) =>
      reject(new Error(`cannot start ${BINARY}; build it with \`cargo build\``, { cause: error })),
    );
    server.once("exit", (code) => reject(new Error(`${BINARY} ended with ${code}:\n${said.join("")}`)));
    if (server.stdout) {
      createInterface(server.stdout).on("line", (line) => {
        const [found] = /https?:\/\/[\w.:[\]]+/.exec(line) ?? [];
        if (found) resolve(found);
      });
    }
  });
  return [server, url];
}

function ended(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    if (server.exitCode !== null || server.signalCode !== null) return resolve();
    server.once("exit", () => resolve());
    server.kill(signal);
  });
}

import { readFileSync } from "node:fs";

import { svelte } from "@sveltejs/vite-plugin-svelte";
import type { HttpProxy } from "vite";
import { defineConfig } from "vitest/config";

/** The server that the development server asks: `CALLBOARD_URL`, else the default address of `callboard serve`. */
const server = process.env["CALLBOARD_URL"] ?? "http://127.0.0.1:7420";

/** To the server, the page comes from itself, as it will when it is part of it. */
export function proxyTo(target: string) {
  const call = { target, changeOrigin: true, headers: { origin: target }, configure: atOnce };
  return { "/v1": call };
}

/** The head of an answer goes out before its body begins, and an answer that broke off breaks off for the browser too. */
function atOnce(proxy: HttpProxy.ProxyServer): void {
  proxy.on("proxyRes", (answer, _request, response) => {
    setImmediate(() => response.flushHeaders());
    answer.on("close", () => answer.complete || response.destroy());
  });
}

/** The policy of the server, read from its source, so that what works here works there. */
function policy(): string {
  const source = readFileSync(new URL("../crates/server/src/page.rs", import.meta.url), "utf8");
  const [, text = ""] = /POLICY: &str = "([^"]+)"/.exec(source) ?? [];
  return text.replace(/\\\n\s*/g, "");
}

export default defineConfig({
  // Every URL is relative to `<base href>`, which the server replaces by the path under which it is reached.
  base: "./",
  plugins: [svelte()],
  build: {
    outDir: "../crates/server/page",
    emptyOutDir: true,
    target: "es2023",
    // The server allows no inline styles or data outside of files, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: proxyTo(server) },
  // Browsers on a machine that does other things too: two at a time, which wait for servers more than they compute.
  // What a test waits for has a limit of its own; that of the whole test is for what goes on for ever.
  test: { testTimeout: 600_000, hookTimeout: 300_000, maxWorkers: 2, expect: { poll: { timeout: 60_000 } } },
  // The built page as the server sends it, in front of any server.
  preview: { proxy: proxyTo(server), headers: { "content-security-policy": policy() } },
});

/** The page behind a proxy, under a path of its own. */

import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, beforeAll, expect, test } from "vitest";

import { Harness } from "./harness";
import { press } from "./press";
import { Story } from "./story";

const PREFIX = "/team";
let proxy: Server;
let harness: Harness;
let at: string;

beforeAll(async () => {
  // It takes the prefix away, as most proxies are told to.
  proxy = createServer((asked, answer) => {
    const path = (asked.url ?? "/").replace(PREFIX, "") || "/";
    const to = new URL(path, harness.api);
    const call = request(to, { method: asked.method, headers: { ...asked.headers, host: to.host } }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      answer.flushHeaders();
      got.pipe(answer);
    });
    call.on("error", () => answer.destroy());
    answer.on("close", () => call.destroy());
    asked.pipe(call);
  });
  await new Promise<void>((done) => proxy.listen(0, "127.0.0.1", done));
  at = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${PREFIX}`;
  harness = await Harness.start(["--public-url", at]);
  await new Story(harness.api, "outage").tell({ hostile: false });
});

afterAll(async () => {
  await harness.stop();
  proxy.closeAllConnections();
  await new Promise((done) => proxy.close(done));
});

test("links, calls, events and a reload stay under the path", async () => {
  const page = await harness.open("");
  await page.goto("about:blank");
  const asked: string[] = [];
  page.on("request", (one) => asked.push(one.url()));
  await page.goto(`${at}/`);
  await press(page.getByRole("link", { name: "Outage of 18 November" }), page.getByRole("article").first());
  expect(page.url()).toBe(`${at}/sessions/outage/conversation`);
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Context sets" }).click();
  const table = page.getByRole("table", { name: "Who sees what" });
  await table.getByRole("rowheader", { name: "Deadline" }).waitFor();
  await new Story(harness.api, "outage").set("Fresh", "made elsewhere", "all");
  await table.getByRole("rowheader", { name: "Fresh" }).waitFor();
  await page.getByRole("button", { name: "Deadline", exact: true }).click();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Content" }).fill("Written through the proxy");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("complementary", { name: "Deadline" }).getByText("Written through the proxy").first().waitFor();
  await page.reload();
  await table.getByRole("rowheader", { name: "Fresh" }).waitFor();
  expect(asked.filter((url) => !url.startsWith(`${at}/`))).toEqual([]);
});

/** Files, access tokens, and the tabs of a browser. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { faultsOf } from "./axe";
import { Harness } from "./harness";
import { press } from "./press";
import { Story } from "./story";

let harness: Harness;
let story: Story;
let project: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "callboard-project-"));
  harness = await Harness.start(["--project", project]);
  story = await Story.bare(harness.api, "small", ["writer"]);
});

afterAll(async () => {
  await harness.stop();
  await rm(project, { recursive: true, force: true });
});

test("a context file is found by its words and can be read", async () => {
  const page = await harness.open("sessions/small/files");
  await page.getByText("No context files yet").waitFor();
  const file = { category: "features", for: "writer", keywords: ["report", "board"], request: "Write the summary." };
  await story.within("POST", "/files", { name: "summary", ...file });
  await story.within("POST", "/files", { name: "other", ...file, request: "Draw the chart." });
  const summary = page.getByRole("button", { name: /summary/ });
  await summary.waitFor();
  await page.getByRole("searchbox", { name: "Search files" }).fill("the summary");
  await page.getByRole("button", { name: /other/ }).waitFor({ state: "detached" });
  const inspector = page.getByRole("complementary", { name: /summary/ });
  await press(summary, inspector.getByText("Write the summary."));
  await page.reload();
  await inspector.getByText("Write the summary.").waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("combobox", { name: "Category" }).selectOption("tasks");
  await page.getByText("No file matches").waitFor();
});

test("an access token is made, works, and is revoked", async () => {
  const page = await harness.open("sessions/small/access");
  await page.getByRole("button", { name: "New token" }).click();
  await page.getByRole("combobox", { name: "For" }).selectOption("writer");
  await page.getByRole("combobox", { name: "Expires" }).selectOption("in a day");
  await page.getByRole("button", { name: "Make token" }).click();
  const token = await page.getByRole("textbox", { name: "New token" }).inputValue();
  const me = () => fetch(`${harness.api}/v1/me`, { headers: { authorization: `Bearer ${token}` } });
  expect(await (await me()).json()).toMatchObject({ name: "writer" });
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Done" }).click();
  const row = page.getByRole("row").filter({ hasText: "writer" });
  await row.waitFor();
  expect(await row.textContent()).not.toContain("never");
  expect(await page.content()).not.toContain(token);

  await row.getByRole("button", { name: /^Revoke/ }).click();
  await page.getByRole("button", { name: "Revoke token" }).click();
  await page.getByText("No access tokens").waitFor();
  expect((await me()).status).toBe(401);
});

test("the tabs of a browser are shown, and that there is none where there is none", async () => {
  const page = await harness.open("");
  const calls = "**/v1/sessions/small/browser";
  await page.route(calls, (route) => route.fulfill({ status: 404, json: { detail: "there is nothing" } }));
  await page.goto(`${harness.url}/sessions/small/browser`);
  await page.getByText("This server drives no browser").waitFor();
  await page.unroute(calls);
  const tab = { name: "docs", url: "https://example.com/guide", title: "Guide", active: true };
  let status = { running: true, guarded: true, sandboxed: true, restarts: 0 };
  await page.route(calls, (route) => route.fulfill({ json: { tabs: [tab], status } }));
  await page.reload();
  const row = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: /docs/ }) });
  await row.getByText("https://example.com/guide").waitFor();
  await row.getByText("active", { exact: true }).waitFor();
  // Nothing is said of a browser that runs as it should.
  const notes = page.getByRole("list", { name: "How the browser runs" }).getByRole("listitem");
  expect(await notes.count()).toBe(0);
  status = { running: true, guarded: true, sandboxed: false, restarts: 1 };
  await page.reload();
  await notes.filter({ hasText: "sandbox is off" }).waitFor();
  await notes.filter({ hasText: "started again 1 time" }).waitFor();
  await page.setViewportSize({ width: 360, height: 800 });
  status = { running: true, guarded: false, sandboxed: false, restarts: 0 };
  await page.reload();
  await notes.filter({ hasText: "Not guarded" }).waitFor();
  // Whether an attached browser has a sandbox is not known.
  expect(await notes.count()).toBe(1);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  expect(await faultsOf(page)).toEqual([]);
});

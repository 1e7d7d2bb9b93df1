/** The list of sessions. */

import { afterAll, beforeAll, expect, test } from "vitest";

import { faultsOf } from "./axe";
import { Harness } from "./harness";
import { press } from "./press";
import { Story } from "./story";

let harness: Harness;
let story: Story;

beforeAll(async () => {
  harness = await Harness.start();
  story = new Story(harness.api, "outage");
  await story.tell({ hostile: false });
  await story.call("POST", "", { id: "notes", title: "Release notes", agents: [{ name: "writer", role: "worker" }] });
});

afterAll(() => harness.stop());

test("a session says what happened last, how large it is, and that it waits for the user", async () => {
  const page = await harness.open("");
  const row = page.getByRole("listitem").filter({ hasText: "Outage of 18 November" });
  await row.getByText("31 messages of main were compressed").waitFor();
  await row.getByText("Waits for you").waitFor();
  await row.getByText(/^14.1k tokens$/i).waitFor();
  await row.getByText(/kB$/).waitFor();
  await row.getByTitle(/^Largest prompt: .* of lead$/).waitFor();
  await story.say("main", "user", { role: "user", content: "One more thing." });
  await row.getByText("user in main: One more thing.").waitFor();
});

test("words find titles and ids, and a reload keeps them", async () => {
  const page = await harness.open("");
  const rows = page.getByRole("list", { name: "Sessions" }).getByRole("link");
  await page.getByRole("searchbox", { name: "Search sessions" }).fill("RELEASE");
  await expect.poll(() => rows.allTextContents()).toEqual(["Release notes"]);
  await page.reload();
  await expect.poll(() => rows.allTextContents()).toEqual(["Release notes"]);
  await page.getByRole("searchbox", { name: "Search sessions" }).fill("nothing like it");
  await page.getByText("No session matches").waitFor();
});

test("the list follows what others do, without reading it again", async () => {
  const page = await harness.open("");
  const rows = page.getByRole("list", { name: "Sessions" }).getByRole("link");
  await rows.filter({ hasText: "Release notes" }).waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  const readings: string[] = [];
  page.on("request", (request) => {
    if (new URL(request.url()).pathname === "/v1/sessions") readings.push(request.method());
  });
  await story.call("POST", "", { id: "other", title: "Made elsewhere", agents: [] });
  await rows.filter({ hasText: "Made elsewhere" }).waitFor();
  await story.call("PATCH", "/other", { title: "Renamed elsewhere" });
  await rows.filter({ hasText: "Renamed elsewhere" }).waitFor();
  expect((await rows.allTextContents()).filter((title) => title === "Made elsewhere")).toEqual([]);
  await story.call("DELETE", "/other");
  await rows.filter({ hasText: "Renamed elsewhere" }).waitFor({ state: "detached" });
  expect(readings).toEqual([]);
});

test("after the server was away, the list is as it is by then", async () => {
  const page = await harness.open("");
  const rows = page.getByRole("list", { name: "Sessions" }).getByRole("link");
  await page.getByText("Live", { exact: true }).waitFor();
  await harness.kill();
  await page.getByText("Reconnecting").waitFor();
  await rows.filter({ hasText: "Release notes" }).waitFor();
  await harness.restart();
  await story.call("POST", "", { id: "later", title: "Made later", agents: [] });
  await rows.filter({ hasText: "Made later" }).waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  await story.call("DELETE", "/later");
  await rows.filter({ hasText: "Made later" }).waitFor({ state: "detached" });
});

test("a session is made, forked, exported and, after its title was typed, deleted", async () => {
  const page = await harness.open("");
  await page.getByRole("button", { name: "New session" }).click();
  const made = page.getByRole("dialog", { name: "New session" });
  await made.getByRole("textbox", { name: "Title" }).fill("Made on the page");
  await made.getByRole("textbox", { name: "Id", exact: true }).fill("made");
  await made.getByRole("textbox", { name: "Workers" }).fill("writer, critic");
  await made.getByRole("button", { name: "Make session" }).click();
  await page.waitForURL(/sessions\/made\/conversation/);
  await page.getByText("Nothing was said yet").waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill("Begin");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("article").filter({ hasText: "Begin" }).waitFor();

  await page.getByRole("link", { name: "Sessions", exact: true }).click();
  const rows = page.getByRole("list", { name: "Sessions" }).getByRole("listitem");
  const row = rows.filter({ hasText: "Made on the page" });
  // The one that was used last is the first of those that need nobody.
  await expect.poll(async () => (await rows.filter({ hasText: "No run" }).allInnerTexts())[0]).toContain("Made on the");
  const actions = row.getByRole("button", { name: "Actions for Made on the page" });
  const item = (name: string) => page.getByRole("menuitem", { name });
  await press(actions, item("Export"));
  const download = page.waitForEvent("download");
  await item("Export").click();
  expect((await download).suggestedFilename()).toBe("made.jsonl");
  await press(actions, item("Fork"));
  await item("Fork").click();
  const forked = page.getByRole("dialog", { name: "Fork Made on the page" });
  await forked.getByRole("textbox", { name: "Id" }).fill("forked");
  await forked.getByRole("button", { name: "Fork" }).click();
  await page.waitForURL(/sessions\/forked\/conversation/);
  await page.getByRole("article").filter({ hasText: "Begin" }).waitFor();
  await story.call("PATCH", "/forked", { title: "The fork" });

  await page.goto(`${harness.url}/`);
  await press(actions, item("Delete…"));
  await item("Delete…").click();
  const deleted = page.getByRole("dialog", { name: "Delete this session" });
  const really = deleted.getByRole("button", { name: "Delete session" });
  await deleted.getByRole("textbox").fill("Made on");
  expect(await really.isDisabled()).toBe(true);
  await deleted.getByRole("textbox").fill("Made on the page");
  await really.click();
  await row.waitFor({ state: "detached" });
  await rows.filter({ hasText: "The fork" }).waitFor();
});

test("numbers are as the reader writes them", async () => {
  const page = await harness.open("sessions/outage/context", { locale: "de-DE" });
  await page.getByRole("meter", { name: "Context of lead" }).waitFor();
  await page
    .getByText(/^\d{1,3}\.\d{3}$/)
    .first()
    .waitFor();
});

test.each([
  ["light", 1440],
  ["dark", 1440],
  ["light", 360],
] as const)("axe finds nothing, and nothing sticks out: %s at %i", async (colorScheme, width) => {
  const page = await harness.open("", { colorScheme, viewport: { width, height: 800 } });
  await page.getByText("Waits for you").waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  expect(await faultsOf(page)).toEqual([]);
});

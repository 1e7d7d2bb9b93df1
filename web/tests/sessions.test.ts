/** The list of sessions. */

import { afterAll, beforeAll, expect, test } from "vitest";

import { faultsOf } from "./axe";
import { Harness } from "./harness";
import { Story } from "./story";

let harness: Harness;
let story: Story;

beforeAll(async () => {
  harness = await Harness.start();
  story = new Story(harness.api, "outage");
  await story.tell({ hostile: false });
  await story.call("POST", "", { id: "notes", title: "Release notes", agents: [{ name: "writer", role: "worker" }] });
}, 60_000);

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
  await row.getByText("user in main: One more thing.").waitFor({ timeout: 10_000 });
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

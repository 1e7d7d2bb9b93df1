/** What people want to know once a team works, each answered in a few steps that go by visible names alone. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { Harness } from "./harness";
import { press } from "./press";
import { Story } from "./story";

const PRICES = `currency = "USD"
[models.small]
prompt = 2.5
completion = 10
`;

let folder: string;
let harness: Harness;
let story: Story;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "callboard-prices-"));
  const prices = join(folder, "prices.toml");
  await writeFile(prices, PRICES);
  harness = await Harness.start(["--prices", prices]);
  story = new Story(harness.api, "outage");
  await story.tell({ hostile: false });
  const asked = { agent: "critic", thread: "agent:critic", model: "small", record: true };
  const { turn } = await story.within("POST", "/prompt", asked);
  const usage = { prompt_tokens: 2_000, completion_tokens: 100 };
  await story.within("POST", `/turns/${String(turn)}`, { text: "The time of the fix is missing.", usage });
});

afterAll(async () => {
  await harness.stop();
  await rm(folder, { recursive: true });
});

/** From the list of sessions to a view, as people go. */
async function goTo(view: string): Promise<Page> {
  const page = await harness.open("");
  const link = page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: view, exact: true });
  await press(page.getByRole("link", { name: "Outage of 18 November" }), link);
  await link.click();
  await page.getByRole("heading", { level: 1, name: view }).waitFor();
  return page;
}

test("Why did the critic not know the deadline?", async () => {
  const page = await goTo("Timeline");
  await page.getByRole("searchbox", { name: "Why" }).fill("report must be with them by 12:00");
  const why = page.getByRole("region", { name: "Why" });
  await why.getByText("You put it into Deadline, for lead, writer").waitFor();
  await why.getByText(/critic:\s+Deadline is\s+hidden from it since/).waitFor();
});

test("What does the critic not see that the writer does?", async () => {
  const page = await goTo("Prompt");
  await page.getByRole("combobox", { name: "Agent" }).selectOption("critic");
  await page.getByRole("button", { name: "Two agents" }).click();
  await page.getByRole("combobox", { name: "Compare with" }).selectOption("writer");
  const table = page.getByRole("region", { name: "Comparison" });
  await table.getByText(/Hidden from critic since #\d+, by you/).waitFor();
  await table.getByText("The board meets on Friday", { exact: false }).waitFor();
});

test("What did this turn cost, and what filled its prompt?", async () => {
  const page = await goTo("Context size");
  await page.getByRole("button", { name: /^critic/ }).click();
  const turns = page.getByRole("table", { name: "Turns" });
  const turn = turns.getByRole("row").filter({ hasText: "$0.0060" });
  await turn.getByText("2,000").waitFor();
  await turn.getByRole("link").click();
  await page.getByText("as it was sent").waitFor();
  await page.getByRole("button", { name: /^Context sets \d/ }).waitFor();
  await page.getByRole("button", { name: /^Current task \d/ }).waitFor();
});

test("What changed in the plan since yesterday, and why?", async () => {
  const page = await goTo("Plan");
  const added = page.getByRole("listitem").filter({ hasText: "Check refunds" });
  await added.getByText("+ new in version 3").waitFor();
  await page.getByText("critic asked about refunds").first().waitFor();
  await page.getByRole("combobox", { name: "Compare with" }).selectOption("1");
  await page.getByRole("listitem").filter({ hasText: "Find the deploy" }).getByText("pending → completed").waitFor();
});

test("What will be lost if I compress now? Undo that.", async () => {
  const page = await goTo("Context size");
  const meter = page.getByRole("meter", { name: "Context of lead" });
  const tokens = async () => Number(await meter.getAttribute("aria-valuenow"));
  await meter.waitFor();
  // The team has compressed once: with that undone, there is something to lose.
  const compressed = await tokens();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Undone: the originals stand in prompts again.").waitFor();
  await expect.poll(tokens).toBeGreaterThan(compressed);
  const before = await tokens();
  await page.getByRole("spinbutton", { name: "Target in tokens" }).fill("800");
  await page.getByRole("button", { name: "Preview summary" }).click();
  const compression = page.getByRole("region", { name: "Compression" });
  await compression.getByRole("heading", { name: "Out of prompts" }).waitFor();
  await compression
    .getByText(/^\d+ messages/)
    .first()
    .waitFor();
  await compression.getByRole("heading", { name: "Stays word for word" }).waitFor();
  await page.getByRole("button", { name: "Compress", exact: true }).click();
  await page.getByText("Compressed at", { exact: false }).waitFor();
  await expect.poll(tokens).toBeLessThan(before);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Undone: the originals stand in prompts again.").waitFor();
  await expect.poll(tokens).toBe(before);
});

/** What agents see: prompts, their sizes, and recall, by what a person can name on the page. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { faultsOf } from "./axe";
import { Harness } from "./harness";
import { SECRET_DEADLINE, Story } from "./story";

let harness: Harness;
let story: Story;

beforeAll(async () => {
  harness = await Harness.start();
  story = new Story(harness.api, "outage");
  await story.tell();
});

afterAll(() => harness.stop());

const promptOf = (body: Record<string, unknown>) => story.within("POST", "/prompt", body);
const region = (page: Page) => page.getByRole("region", { name: "Prompt" });
const head = async () => Number((await story.within("GET", ""))["head"]);
const CRITIC = "agent=critic&thread=agent:critic";

async function textIs(page: Page, text: unknown): Promise<void> {
  await expect.poll(() => region(page).textContent()).toBe(text);
}

test("a prompt is shown exactly, moves with the journal, and comes back after a reload", async () => {
  const page = await harness.open(`sessions/outage/prompt?${CRITIC}`);
  await textIs(page, (await promptOf({ agent: "critic", thread: "agent:critic" }))["text"]);
  const before = await head();
  await page.getByRole("slider", { name: "As of entry" }).fill("50");
  const then = await promptOf({ agent: "critic", thread: "agent:critic", at: 50 });
  await textIs(page, then["text"]);
  await page.waitForURL(/at=50/);
  await page.reload();
  await textIs(page, then["text"]);
  await page.getByRole("button", { name: "Back to now" }).click();
  await story.set("Late", "told from elsewhere", ["critic"]);
  await region(page).getByText("told from elsewhere").waitFor();
  // Looking at all of this wrote nothing.
  expect(await head()).toBe(before + 1);
});

test("each set carries its entry, and says who sees it and who was shown it", async () => {
  const page = await harness.open(`sessions/outage/prompt?${CRITIC}`);
  await region(page).getByText("Pool size 4 instead of 40").click();
  const why = page.getByRole("complementary", { name: "This piece" });
  await why.getByText("context set, version 2", { exact: false }).waitFor();
  await why.getByText("critic was shown it in 1 turn", { exact: false }).waitFor();
  await why.getByText("Deadline").waitFor();
  await why.getByRole("link", { name: "Open in Timeline" }).click();
  await page.waitForURL(/timeline\?.*entry=49/);
});

test("the prompt of a turn is shown as it was sent", async () => {
  const page = await harness.open(`sessions/outage/prompt?${CRITIC}`);
  const turns = (await story.within("GET", "/turns"))["turns"] as { agent: string; turn: number }[];
  const turn = String(turns.find((one) => one.agent === "critic")?.turn);
  await page.getByRole("combobox", { name: "Turn" }).selectOption(turn);
  await textIs(page, (await story.within("GET", `/turns/${turn}/prompt`))["text"]);
  await page.getByText("as it was sent").waitFor();
});

test("a format for a provider shows its messages, and a small budget says what it would take", async () => {
  const page = await harness.open(`sessions/outage/prompt?${CRITIC}`);
  await page.getByRole("combobox", { name: "Format" }).selectOption("openai");
  await region(page).getByRole("button", { name: "system" }).first().waitFor();
  await region(page).getByText("What does the draft not prove?").waitFor();
  await page.goto(`${harness.url}/sessions/outage/prompt?${CRITIC}&budget=50`);
  await page.getByRole("alert").getByText("budget_exceeded").waitFor();
});

test("the exact bytes are copied, in each format", async () => {
  const page = await harness.open(`sessions/outage/prompt?${CRITIC}`);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const asked = { agent: "critic", thread: "agent:critic" };
  const copy = page.getByRole("button", { name: "Copy" });
  const told = copy.getByText("Copied").waitFor();
  // The clipboard is written after the click, and a prompt that was shown before may stand there for a moment.
  const copied = async () => {
    await copy.click();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const { text } = await promptOf(asked);
  await textIs(page, text);
  await expect.poll(copied).toBe(text);
  await told;
  for (const format of ["openai", "anthropic"]) {
    await page.getByRole("combobox", { name: "Format" }).selectOption(format);
    await region(page).getByText("What does the draft not prove?").waitFor();
    const { system, messages, tools } = await promptOf({ ...asked, format });
    const sent = { ...(system ? { system } : {}), messages, ...(tools ? { tools } : {}) };
    await expect.poll(copied).toBe(JSON.stringify(sent));
  }
});

test("two agents and two entries stand beside each other, with since when a thing is hidden", async () => {
  const page = await harness.open("sessions/outage/prompt?agent=critic&at=60");
  await page.getByRole("button", { name: "Two agents" }).click();
  await page.getByRole("combobox", { name: "Compare with" }).selectOption("writer");
  await page.getByText("What does critic not see?").waitFor();
  const table = page.getByRole("region", { name: "Comparison" });
  await table.getByText("Hidden from critic since #47, by you").waitFor();
  await page.getByRole("button", { name: "Two entries" }).click();
  await page.getByRole("slider", { name: "Compare with entry" }).fill("48");
  await page.getByText("What changed since entry 48?").waitFor();
  await table.getByText("It was not there as of entry 48").first().waitFor();
});

test("as an agent, its own prompt is there and nothing that is hidden from it", async () => {
  const page = await harness.open("sessions/outage/prompt?as=critic");
  await region(page).getByText("<CONTEXT_SET").first().waitFor();
  expect(await page.getByRole("combobox", { name: "Agent" }).locator("option").allTextContents()).toEqual(["critic"]);
  expect(await page.getByRole("slider", { name: "As of entry" }).count()).toBe(0);
  const seen = await page.content();
  expect(seen).not.toContain(SECRET_DEADLINE);
  expect(seen).not.toContain("Customers affected");
});

test("sizes are meters, a compression is previewed, done and undone", async () => {
  const page = await harness.open("sessions/outage/context?agent=critic");
  const meter = page.getByRole("meter", { name: "Context of critic" });
  await meter.waitFor();
  const size = await story.within("GET", "/threads/main/context");
  const critic = (size["agents"] as { agent: string; tokens: number; window: number }[]).find(
    (one) => one.agent === "critic",
  );
  await expect.poll(() => meter.getAttribute("aria-valuenow")).toBe(String(critic?.tokens));
  await expect.poll(() => meter.getAttribute("aria-valuemax")).toBe(String(critic?.window));
  // The story has compressed the thread once: that is undone first.
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Undone: the originals").waitFor();
  await page.getByRole("spinbutton", { name: "Target in tokens" }).fill("800");
  const before = await head();
  await page.getByRole("button", { name: "Preview summary" }).click();
  await page.getByText("Out of prompts").waitFor();
  expect(await head()).toBe(before);
  await page.getByRole("button", { name: "Compress" }).click();
  await page.getByText("Compressed at", { exact: false }).waitFor();
  await page.getByRole("button", { name: "Undo" }).waitFor();
});

test("recall finds as an agent what it may see, with why, and documents come and go", async () => {
  const page = await harness.open("sessions/outage/recall");
  await page.getByRole("searchbox", { name: "Query" }).fill("board deadline Friday");
  await page.getByRole("button", { name: "Recall" }).click();
  const hits = page.getByRole("list", { name: "Hits" });
  await hits.getByText("The board meets on", { exact: false }).waitFor();
  await hits.getByText("Words:", { exact: false }).first().waitFor();
  await page.getByRole("combobox", { name: "As" }).selectOption("critic");
  await hits.getByText("The board meets on", { exact: false }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Exact words" }).click();
  await page.waitForURL(/exact=1/);
  await page.getByRole("button", { name: "Add document" }).click();
  const dialog = page.getByRole("dialog", { name: "Add document" });
  await dialog.getByRole("textbox", { name: "Name" }).fill("runbook.md");
  await dialog.getByRole("textbox", { name: "Text" }).fill("How the pool is restarted.");
  await dialog.getByRole("button", { name: "Add document" }).click();
  await page.getByRole("button", { name: "runbook.md", exact: true }).click();
  await page.getByText("How the pool is restarted.").waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Delete runbook.md" }).click();
  await page.getByRole("button", { name: "Delete document" }).click();
  await page.getByText("None yet.", { exact: false }).waitFor();
});

test("what an agent has no right to is not there when one looks as it", async () => {
  const page = await harness.open("sessions/outage/context?as=critic&thread=agent:critic");
  await page.getByRole("meter", { name: "Context of critic" }).waitFor();
  expect(await page.getByRole("meter").count()).toBe(1);
  for (const name of ["Compress", "Preview summary", "Undo"]) {
    expect(await page.getByRole("button", { name, exact: true }).count(), name).toBe(0);
  }
  await page.goto(`${harness.url}/sessions/outage/timeline?as=critic&entry=46`);
  await page.getByRole("region", { name: "Entry 46" }).getByText("context_set.updated").waitFor();
  expect(await page.getByRole("button", { name: "Fork here" }).count()).toBe(0);
  expect(await page.getByRole("link", { name: "Prompts as of here" }).count()).toBe(0);
  await page.goto(`${harness.url}/sessions/outage/recall?as=critic&q=pool`);
  await page.getByRole("list", { name: "Hits" }).waitFor();
  expect(await page.getByRole("button", { name: "Add document" }).count()).toBe(0);
  expect(await page.getByRole("combobox", { name: "As", exact: true }).count()).toBe(0);
  await page.goto(`${harness.url}/sessions/outage/prompt?as=critic`);
  await region(page).getByText("<CONTEXT_SET").first().waitFor();
  for (const name of ["Two entries", "Two agents"]) {
    expect(await page.getByRole("button", { name }).count(), name).toBe(0);
  }
  expect(await page.getByRole("combobox", { name: "Turn" }).count()).toBe(0);
});

test.each([
  ["light", 1440],
  ["dark", 1440],
  ["light", 360],
] as const)("axe finds nothing, and nothing sticks out: %s at %i", async (colorScheme, width) => {
  for (const [path, shown] of [
    [`prompt?${CRITIC}`, "Shortened"],
    ["prompt?agent=critic&at=60&compare=agents&with=writer", "that writer sees"],
    ["context?agent=critic&thread=agent:critic", "Preview summary"],
    ["recall?q=pool", "Words:"],
  ] as const) {
    const page = await harness.open(`sessions/outage/${path}`, { colorScheme, viewport: { width, height: 800 } });
    await page.getByText(shown, { exact: false }).first().waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    expect(await faultsOf(page), path).toEqual([]);
  }
});

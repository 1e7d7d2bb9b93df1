import { afterAll, beforeAll, expect, test } from "vitest";

import { faultsOf } from "./axe";
import { Harness } from "./harness";
import { press, rest } from "./press";
import { SECRET_DEADLINE, Story } from "./story";

let harness: Harness;
let story: Story;

beforeAll(async () => {
  harness = await Harness.start();
  story = new Story(harness.api, "outage");
  await story.tell();
});

afterAll(() => harness.stop());

test("entries stand newest first, and those of another client come at once", async () => {
  const page = await harness.open("sessions/outage/timeline");
  const rows = page.getByRole("list", { name: "Entries" }).getByRole("listitem");
  await rows.filter({ hasText: "#84" }).filter({ hasText: "message.added" }).waitFor();
  await story.set("Fresh", "made elsewhere", "all");
  await rows.first().filter({ hasText: "context_set.updated" }).filter({ hasText: "Fresh" }).waitFor();
});

test("filters choose entries, and a reload keeps them", async () => {
  const page = await harness.open("sessions/outage/timeline");
  const rows = page.getByRole("list", { name: "Entries" }).getByRole("listitem");
  await page.getByRole("combobox", { name: "Type" }).selectOption("plan.updated");
  await rows.filter({ hasText: "first plan" }).waitFor();
  await expect.poll(() => rows.count()).toBe(3);
  await page.reload();
  await rows.filter({ hasText: "first plan" }).waitFor();
  await expect.poll(() => rows.count()).toBe(3);
  await page.getByRole("searchbox", { name: "Search entries" }).fill("refunds");
  await expect.poll(() => rows.count()).toBe(1);
});

test("why says who said it, and who was never shown it", async () => {
  const page = await harness.open("sessions/outage/timeline");
  await page.getByRole("searchbox", { name: "Why" }).fill("board meets on Friday");
  const why = page.getByRole("region", { name: "Why" });
  await why.getByText("You put it into Deadline, for lead, writer").waitFor();
  await why.getByText(/^Never shown to .*critic/).waitFor();
  await why.getByText(/critic:\s+Deadline is\s+hidden from it since/).waitFor();
  await why.getByRole("link", { name: "Open Deadline" }).click();
  await page.getByRole("heading", { level: 1, name: "Context sets" }).waitFor();
});

test("an entry opens by its number, and a session is forked there", async () => {
  const page = await harness.open("sessions/outage/timeline?entry=47");
  const entry = page.getByRole("region", { name: "Entry 47" });
  await entry.getByText(SECRET_DEADLINE).first().waitFor();
  await entry.getByRole("link", { name: "Prompts as of here" }).waitFor();
  await entry.getByRole("button", { name: "Fork here" }).click();
  await page.getByRole("button", { name: "Fork", exact: true }).click();
  await page.waitForURL((url) => !url.pathname.includes("/outage/"));
});

test("two entries are compared", async () => {
  const page = await harness.open("sessions/outage/timeline?compare=57-58");
  await page.getByRole("heading", { level: 2, name: "Plan" }).waitFor();
  await page.getByText("Check refunds").waitFor();
  await page.getByRole("button", { name: "Back to entries" }).click();
  await page.getByRole("list", { name: "Entries" }).waitFor();
});

test("as an agent nothing that is hidden from it is in the page", async () => {
  const page = await harness.open("sessions/outage/timeline?as=critic&entry=47&why=Friday");
  await page.getByText("There is no such entry, or you may not see it.").waitFor();
  await page.getByText("You said it in main").waitFor();
  expect(await page.content()).not.toContain(SECRET_DEADLINE);
  expect(await page.getByRole("combobox", { name: "Seen by" }).count()).toBe(0);
});

test("choosing an entry leaves the list where it is, and a link brings another into sight", async () => {
  const page = await harness.open("sessions/outage/timeline?why=board%20meets%20on%20Friday");
  const list = page.getByRole("list", { name: "Entries" });
  await list.getByRole("listitem").first().waitFor();
  // What stands above the list moves it away from the pointer, and one that is not filled does not scroll.
  await page.getByRole("region", { name: "Why" }).getByRole("link", { name: "#47" }).first().waitFor();
  await expect.poll(() => list.evaluate((element) => element.scrollHeight - element.clientHeight)).toBeGreaterThan(300);
  // A list leaves its place by the reader's hand.
  await list.hover();
  await page.mouse.wheel(0, 300);
  await expect.poll(() => list.evaluate((element) => element.scrollTop)).toBe(300);
  const row = list.getByRole("listitem").filter({ hasText: "#70" });
  await rest(row);
  const before = await list.evaluate((element) => element.scrollTop);
  await press(row, page.getByRole("region", { name: "Entry 70" }).getByText("turn.answered"));
  const after = await list.evaluate((element) => element.scrollTop);
  expect(Math.abs(after - before)).toBeLessThan(2);
  await page.getByRole("region", { name: "Why" }).getByRole("link", { name: "#47" }).first().click();
  await page.getByRole("region", { name: "Entry 47" }).getByText(SECRET_DEADLINE).first().waitFor();
  await list.getByRole("listitem").filter({ hasText: "#47" }).waitFor();
});

test("arrows go through the entries, and Enter opens one", async () => {
  const page = await harness.open("sessions/outage/timeline");
  const rows = page.getByRole("list", { name: "Entries" }).getByRole("listitem");
  await rows.first().waitFor();
  await rows.first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(/entry=\d+/);
});

test.each(["light", "dark"] as const)("axe finds nothing in %s, wide and narrow", async (colorScheme) => {
  for (const width of [1440, 360]) {
    const page = await harness.open("sessions/outage/timeline?entry=47&why=Friday", {
      colorScheme,
      viewport: { width, height: 800 },
    });
    await page.getByRole("region", { name: "Entry 47" }).getByText(SECRET_DEADLINE).first().waitFor();
    expect(await faultsOf(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  }
});

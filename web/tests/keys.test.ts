/** The page with the keyboard alone. */

import { afterAll, beforeAll, expect, test } from "vitest";

import { Harness } from "./harness";
import { Story } from "./story";

let harness: Harness;

beforeAll(async () => {
  harness = await Harness.start();
  await new Story(harness.api, "outage").tell();
});

afterAll(() => harness.stop());

test("from the list of sessions through the views, with single letters", async () => {
  const page = await harness.open("");
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await page.getByRole("link", { name: "Outage of 18 November" }).focus();
  await press("Enter");
  await page.getByRole("article").first().waitFor();

  await press("g", "s");
  const table = page.getByRole("table", { name: "Who sees what" });
  await table.getByRole("rowheader", { name: "Brief" }).waitFor();
  const cells = table.getByRole("button", { name: /^(sees|hidden)$/ });
  await cells.first().focus();
  await press("ArrowDown", "ArrowRight", "Enter");
  const question = page.getByRole("dialog", { name: "Customers affected for researcher" });
  await question.getByRole("button", { name: "Show to researcher" }).and(page.locator(":focus")).waitFor();
  await press("Escape");
  await question.waitFor({ state: "detached" });
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent?.trim())).toBe("hidden");

  await press("g", "p");
  const version = page.getByRole("slider", { name: "Version" });
  await version.waitFor();
  // Quick presses are counted from where the slider is, not from what has been loaded.
  await press("[", "[");
  await page.waitForURL(/version=1/);
  await expect.poll(() => version.inputValue()).toBe("1");
  await press("]", "]");
  await page.waitForURL((url) => !url.searchParams.has("version"));

  await press("g", "r");
  const prompt = page.getByRole("region", { name: "Prompt" });
  await prompt.getByText("AGENT_INSTRUCTIONS").first().waitFor();
  await press("Shift+O");
  await page.waitForURL(/fold=/);
  await page.reload();
  await page
    .getByRole("button", { name: /^Instructions/ })
    .first()
    .waitFor();
  expect(await prompt.getByText("AGENT_INSTRUCTIONS").count()).toBe(0);
  await press("Shift+O");
  await prompt.getByText("AGENT_INSTRUCTIONS").first().waitFor();

  await press("g", "t");
  await page.getByRole("list", { name: "Entries" }).getByRole("listitem").first().waitFor();
  await press("/");
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("INPUT");
});

test("eyes, a message and the palette have keys, and letters can be switched off", async () => {
  const page = await harness.open("sessions/outage/conversation");
  await page.getByRole("article").first().waitFor();
  await page.keyboard.press("a");
  await page.keyboard.press("4");
  await page.getByText("You see what critic sees.").waitFor();
  await page.keyboard.press("Escape");
  await page.getByText("You see what critic sees.").waitFor({ state: "detached" });

  const message = page.getByRole("textbox", { name: "Message" });
  await message.waitFor();
  await page.keyboard.press("m");
  await expect.poll(() => message.evaluate((field) => field === document.activeElement)).toBe(true);
  await page.keyboard.type("Said by keys alone");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("article").filter({ hasText: "Said by keys alone" }).waitFor();

  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Go to" }).and(page.locator(":focus")).waitFor();
  await page.keyboard.type("draft report");
  await page.getByRole("option", { name: "Draft report", exact: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("complementary", { name: "Draft report" }).waitFor();
  await page.keyboard.press("Escape");

  await page.keyboard.press("?");
  const keys = page.getByRole("dialog", { name: "Keyboard" });
  await keys.getByRole("switch", { name: "Single letters" }).click();
  await page.keyboard.press("Escape");
  await keys.waitFor({ state: "detached" });
  await page.keyboard.press("g");
  await page.keyboard.press("p");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Go to" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/sessions/outage/context-sets");
});

test("what is open closes one after the other, and the focus goes back to what opened it", async () => {
  const page = await harness.open("sessions/outage/context-sets");
  const focused = page.locator(":focus");
  const brief = page.getByRole("button", { name: "Brief", exact: true });
  await brief.click();
  const inspector = page.getByRole("complementary", { name: "Brief" });
  const actions = inspector.getByRole("button", { name: "Actions for Brief" });
  const question = page.getByRole("dialog", { name: "Delete Brief" });
  for (const close of [
    () => page.keyboard.press("Escape"),
    () => question.getByRole("button", { name: "Cancel" }).click(),
    () => question.getByRole("button", { name: "Close" }).click(),
  ]) {
    await actions.press("Enter");
    await page.getByRole("menuitem", { name: "Delete…" }).and(focused).waitFor();
    await page.keyboard.press("Enter");
    await question.waitFor();
    await close();
    await question.waitFor({ state: "detached" });
    await actions.and(focused).waitFor();
  }
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Go to" });
  await palette.waitFor();
  await page.keyboard.press("Escape");
  await palette.waitFor({ state: "detached" });
  await actions.and(focused).waitFor();
  await page.keyboard.press("Escape");
  await inspector.waitFor({ state: "detached" });
  await brief.and(focused).waitFor();
});

test("a text that is selected is asked why", async () => {
  const page = await harness.open("sessions/outage/context-sets?set=Deadline");
  const text = page.getByRole("complementary", { name: "Deadline" }).getByText("The board meets on Friday");
  await text.waitFor();
  await text.evaluate((element) => getSelection()?.selectAllChildren(element));
  await page.keyboard.press("w");
  const why = page.getByRole("region", { name: "Why" });
  await why.getByText("You put it into Deadline, for lead, writer").waitFor();
  await page.goBack();
  await text.click({ clickCount: 3 });
  await page.getByRole("button", { name: "Why", exact: true }).click();
  await why.getByText("You put it into Deadline, for lead, writer").waitFor();
});

import { afterAll, beforeAll, expect, test } from "vitest";

import { faultsOf } from "./axe";
import { Harness } from "./harness";
import { Story } from "./story";

let harness: Harness;
let story: Story;

beforeAll(async () => {
  harness = await Harness.start();
  story = new Story(harness.api, "outage");
  await story.tell();
});

afterAll(() => harness.stop());

const SECRET = "sk-story-not-to-be-shown";
const patch = (task: number, body: Record<string, unknown>) => story.within("PATCH", `/plan/tasks/${task}`, body);

test("an older version says what changed in it, and is read-only", async () => {
  const page = await harness.open("sessions/outage/plan");
  await page.getByRole("heading", { name: "Report" }).waitFor();
  const added = page.getByRole("listitem").filter({ hasText: "Check refunds" });
  await added.getByText("+ new in version 3").waitFor();
  await page.getByRole("slider", { name: "Version" }).fill("2");
  await page.getByText("Version 2 of 3. It is read-only.").waitFor();
  await page.reload();
  await page.getByText("Version 2 of 3. It is read-only.").waitFor();
  expect(await page.getByRole("combobox", { name: /Status of task/ }).count()).toBe(0);
  await page.getByRole("button", { name: "Back to now" }).click();
  await added.waitFor();
});

test("a task's status is chosen, and what the director changes is seen at once", async () => {
  const page = await harness.open("sessions/outage/plan");
  await page.getByRole("combobox", { name: "Status of task 5" }).selectOption("in_progress");
  const task = page.getByRole("listitem").filter({ hasText: "Draft two pages" });
  await task.getByText("pending → in progress").waitFor();
  await patch(6, { status: "failed", reason: "critic is away" });
  const other = page.getByRole("listitem").filter({ hasText: "Let critic read it" });
  await other.getByText("pending → failed").waitFor();
  await page.getByText("critic is away").first().waitFor();
});

test("notes are written, and a note that came meanwhile is shown first", async () => {
  const page = await harness.open("sessions/outage/plan");
  await page.getByRole("button", { name: "Edit notes of task 7" }).click();
  await page.getByRole("textbox", { name: "Notes of task 7" }).fill("mine");
  await patch(7, { notes: "theirs", reason: "by the director" });
  await page.getByRole("button", { name: "Save notes" }).click();
  const task = page.getByRole("listitem").filter({ hasText: "Send it by Friday" });
  await task.getByText(/its notes are now “theirs”/).waitFor();
  await task.getByRole("button", { name: "Apply mine anyway" }).click();
  await task.getByText("mine", { exact: true }).waitFor();
});

test("faults of the whole plan are told by where they are, and a stale one is refused", async () => {
  const page = await harness.open("sessions/outage/plan");
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  const text = page.getByRole("textbox", { name: "Plan as JSON" });
  const whole = await text.inputValue();
  await text.fill(whole.replace('"Draft two pages"', '""'));
  await page.getByRole("textbox", { name: "Reason" }).fill("trying");
  await page.getByRole("button", { name: "Save plan" }).click();
  await page.getByText("/plan/phases/1/tasks/0/description").waitFor();
  await text.fill(whole.replace("Draft two pages", "Draft three pages"));
  await patch(8, { status: "in_progress", reason: "came meanwhile" });
  await page.getByText(/came while you were writing: came meanwhile/).waitFor();
  await page.getByRole("button", { name: "Apply mine anyway" }).click();
  await page.getByRole("button", { name: "Save plan" }).click();
  await page.getByRole("listitem").filter({ hasText: "Draft three pages" }).waitFor();
});

test("a node is made, moved and deleted, and its last result is shown", async () => {
  const page = await harness.open("sessions/outage/workflow?node=node_1");
  await page.getByText('"commit": "4be91c7"').waitFor();
  await page.getByRole("button", { name: "New node" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Type" }).fill("wait");
  await dialog.getByRole("textbox", { name: "Description" }).fill("Wait an hour");
  await dialog.getByRole("button", { name: "Make node" }).click();
  const row = page.getByRole("row").filter({ hasText: "Wait an hour" });
  await row.getByRole("cell", { name: "4", exact: true }).waitFor();
  await page.getByRole("button", { name: "Move up" }).click();
  await row.getByRole("cell", { name: "3", exact: true }).waitFor();
  await page.getByRole("button", { name: "Delete node_4" }).click();
  await page.getByRole("button", { name: "Delete node", exact: true }).click();
  await row.waitFor({ state: "detached" });
});

test("a workflow is run from the page, and says how it ended", async () => {
  const { id } = await story.call("POST", "", { id: "flow", agents: [{ name: "lead", role: "manager" }] });
  const nodes = `/${String(id)}/workflow/nodes`;
  await story.call("POST", nodes, { type: "transform", description: "Add", config: { set: { sum: "1 + 2" } } });
  await story.call("POST", nodes, {
    type: "transform",
    description: "Fail",
    config: { set: { ratio: "node1.nothing / 2" } },
  });
  const page = await harness.open("sessions/flow/workflow");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page
    .getByText(/^failed/)
    .first()
    .waitFor();
  await page.getByRole("row").filter({ hasText: "Add" }).getByText("success").waitFor();
  await page.getByRole("row").filter({ hasText: "Fail" }).getByText("failed").waitFor();
  await story.call("PATCH", `${nodes}/node_2`, { config: { set: { ratio: "node1.sum / 3" } } });
  await page.getByRole("button", { name: "Fail" }).click();
  await page.getByRole("button", { name: "Run from node_2" }).click();
  await page.getByText("completed").waitFor();
  expect(await faultsOf(page)).toEqual([]);
});

test("a secret is in the page for as long as it is revealed", async () => {
  const page = await harness.open("sessions/outage/variables");
  await page.getByRole("button", { name: "api_key" }).click();
  expect(await page.content()).not.toContain(SECRET);
  await page.getByRole("button", { name: "Reveal" }).click();
  // The address would keep what one asks why of.
  await page.getByText(SECRET).click({ clickCount: 3 });
  await page.keyboard.press("w");
  expect(page.url()).not.toContain("why=");
  await page.getByText(SECRET).evaluate((value) => {
    const note = value.closest(".note");
    if (note?.parentElement) getSelection()?.selectAllChildren(note.parentElement);
  });
  await page.keyboard.press("w");
  expect(page.url()).not.toContain("why=");
  await page.getByText("revealed", { exact: true }).waitFor();
  await page.getByText(SECRET).waitFor({ state: "detached" });
  expect(await page.content()).not.toContain(SECRET);
});

test("a variable is set with a reason, and cleared after a question", async () => {
  const page = await harness.open("sessions/outage/variables");
  await page.getByRole("button", { name: "New variable" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("region");
  await dialog.getByRole("textbox", { name: "Value" }).fill("north");
  await dialog.getByRole("textbox", { name: "Reason" }).fill("the deploy needs it");
  await dialog.getByRole("button", { name: "Set variable" }).click();
  await page.getByText("the deploy needs it").waitFor();
  await page.getByRole("button", { name: "Clear region" }).click();
  await dialog.getByRole("textbox", { name: "Reason" }).fill("no longer");
  await dialog.getByRole("button", { name: "Clear variable" }).click();
  await page.getByRole("rowheader", { name: "region" }).waitFor({ state: "detached" });
});

test.each(["plan", "workflow?node=node_1", "variables?variable=api_key"])("axe finds nothing in %s", async (view) => {
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [1440, 360]) {
      const page = await harness.open(`sessions/outage/${view}`, { colorScheme, viewport: { width, height: 800 } });
      await page
        .getByText(/Read the logs|Get the deploys|As the model sees it/)
        .first()
        .waitFor();
      expect(await faultsOf(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    }
  }
});

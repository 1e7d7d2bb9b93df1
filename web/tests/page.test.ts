import { afterAll, beforeAll, expect, test } from "vitest";

import { Harness } from "./harness";
import { press } from "./press";
import { SECRET_DEADLINE, Story } from "./story";

let harness: Harness;
let story: Story;

beforeAll(async () => {
  harness = await Harness.start();
  story = new Story(harness.api, "outage");
  await story.tell();
});

afterAll(() => harness.stop());

test("a session is found by its title, and opens with its conversation", async () => {
  const page = await harness.open("");
  const opened = page.getByRole("heading", { level: 1, name: "Conversation" });
  await press(page.getByRole("link", { name: "Outage of 18 November" }), opened);
  expect(new URL(page.url()).pathname).toBe("/sessions/outage/conversation");
  const views = page.getByRole("navigation", { name: "Views" }).getByRole("link");
  // Which of them one may see is known when the session is loaded.
  await expect.poll(() => views.count()).toBe(13);
});

test("what another client changes is seen at once, and a lost connection comes back", async () => {
  const page = await harness.open("sessions/outage/context-sets");
  const table = page.getByRole("table", { name: "Who sees what" });
  await table.getByRole("rowheader", { name: "Deadline" }).waitFor();
  await story.set("Fresh", "made elsewhere", ["writer"]);
  const row = table.getByRole("row").filter({ hasText: "Fresh" });
  await row.waitFor();
  const cells = row.getByRole("cell");
  await expect.poll(() => cells.allInnerTexts()).toEqual(expect.arrayContaining(["hidden", "sees"]));

  await harness.kill();
  await page.getByText("Connection lost.").waitFor();
  await harness.restart();
  await story.set("After", "made when the server was back", "all");
  await table.getByRole("rowheader", { name: "After" }).waitFor();
  await page.getByText("Connection lost.").waitFor({ state: "detached" });
});

test("a session that is deleted while it is open leaves the page", async () => {
  const short = await Story.bare(harness.api, "short");
  await short.set("Brief", "Known for a while.", "all");
  const page = await harness.open("sessions/short/context-sets?set=Brief");
  await page.getByText("Known for a while.").first().waitFor();
  await page.getByText(/Live\s+#\d+/).waitFor();
  await short.within("DELETE", "");
  await page.getByText("No such session").waitFor();
  expect(await page.content()).not.toContain("Known for a while.");
});

test("a session is shown and followed where its run cannot be read at first", async () => {
  const page = await harness.open("");
  await page.route("**/v1/sessions/outage/runs", (route) => route.abort(), { times: 1 });
  await page.goto(`${harness.url}/sessions/outage/conversation`);
  await page.getByText(/Live\s+#\d+/).waitFor();
});

test("what is hidden from an agent is nowhere in its page", async () => {
  const page = await harness.open("sessions/outage/context-sets");
  const answers: Promise<string>[] = [];
  await page.getByRole("button", { name: "Deadline", exact: true }).click();
  await page.getByText(SECRET_DEADLINE).first().waitFor();
  page.on("response", (response) => {
    const isJson = response.headers()["content-type"]?.includes("json");
    // Those of the user may still come in. A stream has no end, so it has no text that one could wait for.
    if (isJson && response.url().includes("as=critic")) answers.push(response.text().catch(() => ""));
  });
  await page.getByRole("link", { name: "critic", exact: false }).click();
  await page.getByText("You see what critic sees.").waitFor();
  await page.getByRole("rowheader", { name: "Brief" }).waitFor();
  expect(await page.content()).not.toContain(SECRET_DEADLINE);
  const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]));
  expect(kept).not.toContain(SECRET_DEADLINE);
  await expect.poll(async () => (await Promise.all(answers)).join("\n")).toContain("Brief");
  expect((await Promise.all(answers)).join("\n")).not.toContain(SECRET_DEADLINE);
});

test("an agent is shown a set after one has been told what it costs", async () => {
  const page = await harness.open("sessions/outage/context-sets");
  const row = page.getByRole("row").filter({ hasText: "Brief" }).first();
  await row.getByRole("button", { name: "sees" }).last().click();
  await page.getByRole("button", { name: "Hide from critic" }).click();
  await row.getByRole("button", { name: "hidden" }).waitFor();
});

test("a set is switched off, and its history says what changed", async () => {
  const page = await harness.open("sessions/outage/context-sets?set=Query%20findings");
  const inspector = page.getByRole("complementary", { name: "Query findings" });
  await inspector.getByRole("button", { name: "v2 · new text" }).click();
  await inspector.getByText("Refunds ran on the same pool.").last().waitFor();
  await inspector.getByRole("switch", { name: "Query findings in use" }).click();
  await inspector.getByText("kept out of every prompt").waitFor();
  await inspector.getByText("v3 · switched off").waitFor();
  await page.getByRole("row").filter({ hasText: "Query findings" }).getByText("off", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Cards" }).click();
  await page.getByRole("listitem").filter({ hasText: "Query findings" }).getByText("off", { exact: true }).waitFor();
});

test("a dash says that an agent's prompt has no room for all of a set", async () => {
  const narrow = await Story.bare(harness.api, "narrow", ["writer"], { prompt: { budget: 1_500 } });
  await narrow.say("main", "user", { role: "user", content: "Begin." });
  await narrow.set("Long", "The pool ran out of connections after the deploy. ".repeat(400), ["writer"]);
  await narrow.set("Short", "Plain words.", ["writer"]);
  const page = await harness.open("sessions/narrow/context-sets");
  const cell = (set: string) =>
    page.getByRole("row").filter({ hasText: set }).getByRole("button", { name: "sees", exact: true });
  await expect.poll(() => cell("Long").getAttribute("title")).toBe("Shortened in its prompt");
  expect(await cell("Short").getAttribute("title")).toBe(null);
});

test("the side bar says what is in each view, as the viewer sees it", async () => {
  const page = await harness.open("sessions/outage/files");
  const views = page.getByRole("navigation", { name: "Views" });
  await views.getByText("3/8").waitFor();
  const { context_sets } = (await story.within("GET", "/context-sets")) as { context_sets: unknown[] };
  await views.getByText(String(context_sets.length), { exact: true }).waitFor();
  await page.goto(`${harness.url}/sessions/outage/files?as=critic`);
  const seen = (await story.within("GET", "/context-sets?as=critic")) as { context_sets: unknown[] };
  expect(seen.context_sets.length).toBeLessThan(context_sets.length);
  await views.getByText(String(seen.context_sets.length), { exact: true }).waitFor();
});

test("what one writes is still there after Escape and another view, but not for other eyes", async () => {
  const page = await harness.open("sessions/outage/context-sets?set=Brief");
  const inspector = page.getByRole("complementary", { name: "Brief" });
  const content = inspector.getByRole("textbox", { name: "Content" });
  await inspector.getByRole("button", { name: "Edit" }).click();
  await content.fill("Half of a new brief");
  await content.press("Escape");
  await inspector.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Plan" }).click();
  await page.getByRole("button", { name: "Edit notes of task 5" }).click();
  await page.getByRole("textbox", { name: "Notes of task 5" }).fill("Half of a note");
  await page.getByRole("link", { name: "Context sets" }).click();
  await page.getByRole("button", { name: "Brief", exact: true }).click();
  await expect.poll(() => content.inputValue()).toBe("Half of a new brief");
  // What came meanwhile is told, as if the editor had stayed open.
  await story.set("Brief", "Written by another", "all");
  await inspector.getByText("It changed while you were writing:").waitFor();
  await inspector.getByRole("button", { name: "Apply mine anyway" }).click();
  await inspector.getByRole("button", { name: "Save" }).click();
  await inspector.getByText("Half of a new brief").waitFor();
  await content.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Plan" }).click();
  const notes = page.getByRole("textbox", { name: "Notes of task 5" });
  await expect.poll(() => notes.inputValue()).toBe("Half of a note");
  await page.getByRole("link", { name: /^lead/ }).click();
  await page.getByText("You see what lead sees.").waitFor();
  await page.getByRole("button", { name: "Edit notes of task 5" }).waitFor();
  expect(await notes.count()).toBe(0);
});

test("on a phone, one goes to a task and looks as an agent", async () => {
  const page = await harness.open("sessions/outage/context-sets", {
    viewport: { width: 360, height: 780 },
    hasTouch: true,
  });
  await page.getByRole("button", { name: "Go to" }).tap();
  await page.getByRole("combobox", { name: "Go to" }).fill("refunds");
  await page.getByRole("option", { name: "Task 8: Check refunds" }).tap();
  await page.getByRole("listitem").and(page.locator("[aria-current]")).getByText("Check refunds").waitFor();
  await page.getByRole("button", { name: "Go to" }).tap();
  await page.getByRole("combobox", { name: "Go to" }).fill("look as cri");
  await page.getByRole("option", { name: "Look as critic" }).tap();
  await page.getByText("You see what critic sees.").waitFor();
  // The link of the view that is shown is in sight, though the strip of links is longer than the page is wide.
  await page.goto(`${harness.url}/sessions/outage/variables`);
  const link = page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Variables" });
  await expect.poll(async () => (await link.boundingBox())?.x ?? 1_000).toBeLessThan(300);
});

import { afterAll, beforeAll, expect, test } from "vitest";

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

test("a session is found by its title, and opens with its conversation", async () => {
  const page = await harness.open("");
  await page.getByRole("link", { name: "Outage of 18 November" }).click();
  await page.getByRole("heading", { level: 1, name: "Conversation" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/sessions/outage/conversation");
  const views = page.getByRole("navigation", { name: "Views" }).getByRole("link");
  // Which of them one may see is known when the session is loaded.
  await expect.poll(() => views.count(), { timeout: 30_000 }).toBe(13);
});

test("what another client changes is seen at once, and a lost connection comes back", async () => {
  const page = await harness.open("sessions/outage/context-sets");
  const table = page.getByRole("table", { name: "Who sees what" });
  await table.getByRole("rowheader", { name: "Deadline" }).waitFor();
  await story.set("Fresh", "made elsewhere", ["writer"]);
  const row = table.getByRole("row").filter({ hasText: "Fresh" });
  await row.waitFor();
  expect(await row.getByRole("cell").allInnerTexts()).toEqual(expect.arrayContaining(["hidden", "sees"]));

  await harness.kill();
  await page.getByText("Connection lost.").waitFor();
  await harness.restart();
  await story.set("After", "made when the server was back", "all");
  await table.getByRole("rowheader", { name: "After" }).waitFor();
  await page.getByText("Connection lost.").waitFor({ state: "detached" });
});

test("what is hidden from an agent is nowhere in its page", async () => {
  const page = await harness.open("sessions/outage/context-sets");
  const answers: string[] = [];
  await page.getByRole("button", { name: "Deadline", exact: true }).click();
  await page.getByText(SECRET_DEADLINE).first().waitFor();
  page.on("response", async (response) => {
    const isJson = response.headers()["content-type"]?.includes("json");
    // Those of the user may still come in. A stream has no end, so it has no text that one could wait for.
    if (isJson && response.url().includes("as=critic")) answers.push(await response.text());
  });
  await page.getByRole("link", { name: "critic", exact: false }).click();
  await page.getByText("You see what critic sees.").waitFor();
  await page.getByRole("rowheader", { name: "Brief" }).waitFor();
  expect(await page.content()).not.toContain(SECRET_DEADLINE);
  expect(answers.length).toBeGreaterThan(0);
  expect(answers.join("\n")).not.toContain(SECRET_DEADLINE);
});

test("an agent is shown a set after one has been told what it costs", async () => {
  const page = await harness.open("sessions/outage/context-sets");
  const row = page.getByRole("row").filter({ hasText: "Brief" }).first();
  await row.getByRole("button", { name: "sees" }).last().click();
  await page.getByRole("button", { name: "Hide from critic" }).click();
  await row.getByRole("button", { name: "hidden" }).waitFor();
});

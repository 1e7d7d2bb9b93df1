import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Page, Request } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { faultsOf } from "./axe";
import { Harness } from "./harness";
import { Model } from "./model";
import { press, rest } from "./press";
import { HOSTILE, SECRET_DEADLINE, Story } from "./story";

let model: Model;
let harness: Harness;
let story: Story;
let project: string;

beforeAll(async () => {
  model = await Model.start();
  process.env["OPENAI_BASE_URL"] = model.url;
  process.env["OPENAI_API_KEY"] = "none";
  process.env["CALLBOARD_MODEL"] = "openai:test";
  project = await mkdtemp(join(tmpdir(), "callboard-project-"));
  harness = await Harness.start(["--project", project]);
  story = new Story(harness.api, "outage");
  await story.tell();
});

afterAll(async () => {
  await harness.stop();
  await model.stop();
  await rm(project, { recursive: true, force: true });
});

const article = (page: Page, text: string | RegExp) => page.getByRole("article").filter({ hasText: text });

/** Pieces of an answer are heard by those who listen when they are said. */
const untilLive = (page: Page) => page.getByText(/Live\s+#\d+/).waitFor();

test("all threads are one chat, and what others say comes at once", async () => {
  const page = await harness.open("sessions/outage/conversation");
  await article(page, "critic has looked at it.").getByRole("link", { name: "#72" }).waitFor();
  expect(await page.getByRole("link", { name: /^All threads/ }).getAttribute("aria-current")).toBe("true");
  await story.say("main", "user", { role: "user", content: "Said elsewhere." });
  await article(page, "Said elsewhere.").waitFor();
  await page.getByRole("link", { name: /^agent:researcher/ }).click();
  await article(page, "One deploy: 13:52, 4be91c7.").waitFor();
  await expect.poll(() => page.getByRole("article").count()).toBe(4);
  await page.reload();
  await article(page, "One deploy").waitFor();
  expect(await article(page, "Said elsewhere.").count()).toBe(0);
});

test("a tool call is one line that unfolds to its result", async () => {
  const page = await harness.open("sessions/outage/conversation?thread=agent:researcher");
  const call = page.getByRole("button", { name: /search_logs/ });
  await call.filter({ hasText: "312 lines" }).waitFor();
  await press(call, page.getByText("checkout-6 WARN pool exhausted").first());
  expect(await faultsOf(page)).toEqual([]);
});

test("what was unfolded stays so when its row has left the page, and after a look at another view", async () => {
  const page = await harness.open("sessions/outage/conversation");
  const call = page.getByRole("button", { name: /search_logs/ });
  const result = page.getByText("checkout-6 WARN pool exhausted").first();
  const list = page.getByRole("list", { name: "Messages" });
  await article(page, "critic has looked at it.").waitFor();
  await list.getByRole("listitem").last().focus();
  await page.keyboard.press("Home");
  await press(call, result);
  await list.getByRole("listitem").last().focus();
  await page.keyboard.press("End");
  await call.waitFor({ state: "detached" });
  await list.getByRole("listitem").last().focus();
  await page.keyboard.press("Home");
  await result.waitFor();
  await page.getByRole("link", { name: "Files" }).click();
  await call.waitFor({ state: "detached" });
  await page.goBack();
  await result.waitFor();
});

test("where one has scrolled to is found again after a look at another view, also while others speak", async () => {
  const talk = await Story.bare(harness.api, "talk");
  const say = (...said: string[]) => talk.say("main", "user", ...said.map((content) => ({ role: "user", content })));
  await say(...Array.from({ length: 60 }, (_, at) => `Message ${at}. ${"It has some words. ".repeat((at * 7) % 40)}`));
  const page = await harness.open("sessions/talk/conversation");
  const list = page.getByRole("list", { name: "Messages" });
  await article(page, "Message 59.").waitFor();
  await list.hover();
  const toEnd = () => list.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
  await expect.poll(toEnd).toBeLessThan(2);
  await page.mouse.wheel(0, -900);
  await expect.poll(toEnd).toBeGreaterThan(500);
  await rest(list.getByRole("listitem").first());
  // The row that is first in sight, and how far its top is from that of the list, once nothing moves.
  const look = () =>
    list.evaluate(async (element) => {
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      const from = element.getBoundingClientRect().top;
      const all = [...element.querySelectorAll("[role=listitem]")].map((row) => ({
        text: row.textContent?.slice(0, 40),
        top: row.getBoundingClientRect().top - from,
        bottom: row.getBoundingClientRect().bottom - from,
      }));
      return all.filter(({ bottom }) => bottom > 0).sort((one, other) => one.top - other.top)[0];
    });
  let before = await look();
  const moved = async () => {
    const now = await look();
    const isSame = now?.text === before?.text;
    const by = isSame ? Math.abs((now?.top ?? 0) - (before?.top ?? 0)) : Infinity;
    return { by, now };
  };
  await expect.poll(async () => moved().then(({ by, now }) => ((before = now), by))).toBe(0);
  const stays = async () => (await moved()).by;
  await page.getByRole("link", { name: "Files" }).click();
  await list.waitFor({ state: "detached" });
  await say("Said while one looked at files.");
  await page.getByRole("link", { name: "Conversation" }).click();
  await expect.poll(stays).toBeLessThan(2);
  await say("Said while one read on.");
  await page.getByRole("button", { name: /new message/ }).waitFor();
  await expect.poll(stays).toBeLessThan(2);
  await page.getByRole("button", { name: /new message/ }).click();
  await article(page, "Said while one read on.").waitFor();
  await expect.poll(toEnd).toBeLessThan(2);
  // One who is at the end stays there.
  await say("And once more. ".repeat(80));
  await article(page, "And once more.").waitFor();
  await expect.poll(toEnd).toBeLessThan(2);
});

test("what people and models wrote is text", async () => {
  const page = await harness.open("sessions/outage/conversation?thread=main");
  const evil = `<img src=x onerror="document.title='broken'">`;
  await story.say("main", "lead", { role: "assistant", content: `**bold** ${evil} [go](javascript:alert(1))` });
  const said = article(page, "bold <img");
  await said.waitFor();
  expect(await said.locator("strong").innerText()).toBe("bold");
  expect(await said.locator("img").count()).toBe(0);
  expect(await said.getByRole("link", { name: "go" }).count()).toBe(0);
  await article(page, HOSTILE.style).waitFor();
  expect(await page.title()).not.toContain("broken");
});

test("what becomes a secret leaves the pages that are open", async () => {
  const open = await Story.bare(harness.api, "open");
  const key = "pool-key-4711";
  await open.set("Keys", `The key is ${key}.`, "all");
  await open.set("Keys", `The key is ${key}, until Friday.`, "all");
  await open.say("main", "user", { role: "user", content: `${"word ".repeat(200_000)} ${key}` });
  await open.within("POST", "/documents", { name: "keys.md", text: `Ask for ${key}.`, visible_to: "all" });
  await open.within("PUT", "/variables/note", { value: `${"word ".repeat(200)} ${key}`, reason: "to remember" });
  const talk = await harness.open("sessions/open/conversation");
  await untilLive(talk);
  await press(talk.getByRole("button", { name: /^Show all of/ }), talk.getByText(key));
  const sets = await harness.open("sessions/open/context-sets?set=Keys");
  await untilLive(sets);
  const inspector = sets.getByRole("complementary", { name: "Keys" });
  await inspector.getByRole("button", { name: "v2 · new text" }).click();
  await inspector.getByText(`The key is ${key}.`, { exact: true }).waitFor();
  const recall = await harness.open("sessions/open/recall");
  await untilLive(recall);
  await recall.getByRole("button", { name: "keys.md", exact: true }).click();
  await recall.getByText(`Ask for ${key}.`).waitFor();
  const variables = await harness.open("sessions/open/variables?variable=note");
  await untilLive(variables);
  await variables.getByRole("button", { name: "Show whole value" }).click();
  await variables.getByText(key).waitFor();
  await open.within("PUT", "/variables/pool_key", { value: key, secret: true, reason: "nobody else may know it" });
  await inspector.getByText("The key is [hidden].", { exact: true }).waitFor();
  await recall.getByText("Ask for [hidden].").waitFor();
  for (const page of [talk, sets, recall, variables]) await expect.poll(() => page.content()).not.toContain(key);
});

test("a message is sent with the keyboard, to those whom the page named", async () => {
  const page = await harness.open("sessions/outage/conversation?thread=agent:critic");
  await page.getByText("seen by critic, lead").waitFor();
  const field = page.getByRole("textbox", { name: "Message" });
  await field.fill("Is it proven?");
  await page.reload();
  await expect.poll(() => field.inputValue()).toBe("Is it proven?");
  await field.press("Control+Enter");
  await article(page, "Is it proven?").waitFor();
  // Its row may be there before the answer to the call is.
  await expect.poll(() => field.inputValue()).toBe("");
  const { messages } = (await story.within("GET", "/threads/agent:critic/messages?limit=1")) as {
    messages: { content: string; role: string }[];
  };
  expect(messages[0]).toMatchObject({ content: "Is it proven?", role: "USER" });
});

test("a form is filled in where it was asked", async () => {
  const page = await harness.open("sessions/outage/conversation?thread=main");
  const form = page.getByRole("form", { name: "Publication" });
  await press(form.getByRole("button", { name: "Submit" }), form.locator("[aria-invalid=true]"));
  await form.getByLabel("Readers").selectOption("Public");
  const names = form.getByLabel("Names of engineers");
  // Where its row moves, a click is lost.
  await expect
    .poll(async () => {
      await rest(names);
      await names.check({ timeout: 10_000 });
      return names.isChecked();
    })
    .toBe(true);
  // What is filled in is still there after a look at another view, and after a reload.
  await page.getByRole("link", { name: "Plan" }).click();
  await form.waitFor({ state: "detached" });
  await page.goBack();
  await expect.poll(() => form.getByLabel("Readers").inputValue()).toBe("Public");
  await page.reload();
  await expect.poll(() => form.getByLabel("Readers").inputValue()).toBe("Public");
  await expect.poll(() => names.isChecked()).toBe(true);
  await press(form.getByRole("button", { name: "Submit" }), form.getByText("answered"));
  const set = (await story.within("GET", "/context-sets/Publication")) as { form: { answers: unknown } };
  expect(set.form.answers).toEqual({ readers: "Public", names: true });
});

test("a number is filled in digit by digit", async () => {
  const asking = await Story.bare(harness.api, "numbers");
  const fields = [{ key: "share", valueType: "NUMBER", label: "Share", required: true }];
  const form = { name: "Amounts", fields };
  await asking.within("POST", "/directives", { messageTo: "user", message: "How much?", isInfoRequest: true, form });
  const page = await harness.open("sessions/numbers/conversation");
  const asked = page.getByRole("form", { name: "Amounts" });
  await asked.getByLabel("Share").pressSequentially("12.50");
  expect(await asked.getByLabel("Share").inputValue()).toBe("12.50");
  await press(asked.getByRole("button", { name: "Submit" }), asked.getByText("answered"));
  const set = (await asking.within("GET", "/context-sets/Amounts")) as { form: { answers: unknown } };
  expect(set.form.answers).toEqual({ share: 12.5 });
});

test("a message tells the turn it came from", async () => {
  const page = await harness.open("sessions/outage/conversation");
  const inspector = page.getByRole("complementary", { name: "Message 72" });
  await press(article(page, "critic has looked at it."), inspector);
  await inspector.getByText("Turn 71").waitFor();
  await inspector.getByText("96 tokens").waitFor();
  await inspector
    .getByRole("table", { name: "Parts of the prompt" })
    .getByRole("rowheader", { name: "Context sets" })
    .waitFor();
  await inspector.getByRole("link", { name: "Deadline" }).waitFor();
  await page.reload();
  await inspector.getByText("Turn 71").waitFor();
  await page.keyboard.press("Escape");
  await inspector.waitFor({ state: "detached" });
});

test("what broke off while it was read is read again", async () => {
  const page = await harness.open("sessions/outage/conversation");
  await untilLive(page);
  await page.route("**/v1/sessions/outage/turns/71", (route) => route.abort(), { times: 1 });
  const inspector = page.getByRole("complementary", { name: "Message 72" });
  await press(article(page, "critic has looked at it."), inspector);
  await inspector.getByText("Turn 71").waitFor();
});

test("a run is started, its answers stream, and its directives show what they did", async () => {
  const say = (directive: object) => ({ pieces: JSON.stringify(directive).match(/.{1,8}/gs) ?? [] });
  const sets = [{ name: "Cause", context: "The pool.", visibleToAgents: ["lead", "researcher"] }];
  // The second answer goes on once its beginning was seen.
  let goOn = () => {};
  const until = new Promise<void>((resolve) => (goOn = resolve));
  model.say(
    say({ messageTo: "researcher", message: "Look once more.", contextSetUpdate: { contextSets: sets } }),
    { pieces: ["I look", " at it"], until, rest: [" and it is", " the pool."] },
    say({ workflowComplete: true, messageTo: "user", message: "It was the pool." }),
  );
  // Without steps: those of the other session allow no answer before a tool was used.
  await Story.bare(harness.api, "run", ["researcher"]);
  const page = await harness.open("sessions/run/conversation");
  await untilLive(page);
  await page.getByRole("button", { name: "Start run" }).click();
  await page.getByRole("textbox", { name: "Task" }).fill("Find the cause");
  await page.getByRole("spinbutton", { name: "Turns at most" }).fill("9");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByText("I look at it").waitFor();
  await page.getByText("not yet").waitFor();
  goOn();
  await article(page, "I look at it and it is the pool.").waitFor();
  const directed = article(page, "Look once more.");
  await directed.getByText("created").waitFor();
  await directed.getByRole("link", { name: "Cause" }).waitFor();
  await article(page, "It was the pool.").waitFor();
  await page.getByText(/Run r\d+ completed/).waitFor();
});

test("what one says to a director that is done starts its next run", async () => {
  await Story.bare(harness.api, "directed");
  await story.call("PUT", "/directed/threads/aside", { visible_to: ["lead"] });
  // The director's second answer does not end before the test says so.
  let end = () => {};
  const held = new Promise<void>((resolve) => (end = resolve));
  const greeting = { workflowComplete: true, messageTo: "user", message: "What is to be done?" };
  model.say(
    { pieces: [JSON.stringify(greeting)] },
    { pieces: ["Which mailbox?"] },
    { pieces: ["I look for it."], until: held },
  );
  // A run of the team came before: the newest run is what counts.
  await story.call("POST", "/directed/runs", { kind: "team", input: "Begin" });
  const page = await harness.open("sessions/directed/conversation");
  const message = page.getByRole("textbox", { name: "Message" });
  const starts = page.getByText(/^starts the director/);
  await page.getByText(/Run r\d+ completed/).waitFor();
  expect(await starts.count()).toBe(0);
  await page.getByRole("button", { name: "Start run" }).click();
  const dialog = page.getByRole("dialog", { name: "Start a run" });
  const kind = dialog.getByRole("combobox", { name: "Kind" });
  await expect.poll(() => kind.inputValue()).toBe("team");
  await kind.selectOption("director");
  await dialog.getByRole("textbox", { name: "Task" }).fill("Copy the invoices");
  await dialog.getByRole("button", { name: "Start", exact: true }).click();
  await article(page, "Which mailbox?").waitFor();
  await starts.waitFor();
  await page.getByRole("button", { name: "Start run" }).click();
  await expect.poll(() => kind.inputValue()).toBe("director");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  // In another thread nobody is waiting for it.
  await page.getByRole("combobox", { name: "To", exact: true }).selectOption("aside");
  await starts.waitFor({ state: "detached" });
  await page.getByRole("combobox", { name: "To", exact: true }).selectOption("main");
  await starts.waitFor();
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  expect(await faultsOf(page)).toEqual([]);

  await message.fill("That of the team");
  await page.getByRole("button", { name: "Send" }).click();
  await article(page, "That of the team").waitFor();
  await starts.waitFor({ state: "detached" });
  // While it works, a message goes into the run that there is.
  await page.getByText("Running", { exact: true }).waitFor();
  await message.fill("Only this year");
  await page.getByRole("button", { name: "Send" }).click();
  await article(page, "Only this year").waitFor();
  const runs = async () => {
    const { runs } = (await story.call("GET", "/directed/runs")) as { runs: { kind: string; status: string }[] };
    return runs.map(({ kind, status }) => `${kind} ${status}`);
  };
  expect(await runs()).toEqual(["director running", "director completed", "team completed"]);
  end();
  await article(page, "I look for it.").waitFor();
  await starts.waitFor();
  expect(await runs()).toEqual(["director completed", "director completed", "team completed"]);
});

test("an answer that comes late is not shown over a newer one", async () => {
  await Story.bare(harness.api, "late");
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  model.say({ pieces: ["Done."], until: ended });
  const page = await harness.open("sessions/late/conversation");
  await page.getByText("Nothing was said yet").waitFor();
  // The first answer about the run waits here until the test lets it go.
  let take = () => {};
  let letGo = () => {};
  const taken = new Promise<void>((resolve) => (take = resolve));
  const released = new Promise<void>((resolve) => (letGo = resolve));
  let held: Request | undefined;
  await page.route("**/v1/sessions/late/runs", async (route) => {
    held ??= route.request();
    const response = await route.fetch();
    if (route.request() === held) {
      take();
      await released;
    }
    await route.fulfill({ response });
  });
  await story.call("POST", "/late/runs", { kind: "director", input: "Begin" });
  await taken;
  end();
  const completed = page.getByText("Completed", { exact: true });
  await completed.waitFor();
  const late = page.waitForEvent("requestfinished", (request) => request === held);
  letGo();
  await late;
  await page.evaluate(() => new Promise<number>((done) => requestAnimationFrame(done)));
  expect(await completed.count()).toBe(1);
});

test("a run is paused, resumed and cancelled from any view", async () => {
  await Story.bare(harness.api, "steered");
  const page = await harness.open("sessions/steered/conversation");
  await untilLive(page);
  const run = async () => {
    const { runs } = (await story.call("GET", "/steered/runs")) as { runs: { status: string }[] };
    return runs.at(-1)?.status;
  };
  // The model never says all of it, until the test ends.
  let end = () => {};
  const never = new Promise<void>((resolve) => (end = resolve));
  const thinking = { pieces: ['{"messageTo": "user", "message": "I think'], until: never };
  model.say(thinking, thinking);
  await page.getByRole("button", { name: "Start run" }).click();
  const dialog = page.getByRole("dialog", { name: /Start/ });
  await dialog.getByRole("textbox", { name: "Task" }).fill("Think");
  await dialog.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByText("Running", { exact: true }).waitFor();
  await page.getByText("I think").waitFor();
  await page.getByRole("link", { name: "Timeline" }).click();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused", { exact: true }).waitFor();
  await expect.poll(run).toBe("paused");
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("Space");
  await page.getByText("Running", { exact: true }).waitFor();
  await expect.poll(run).toBe("running");
  await page.getByRole("button", { name: "Cancel run" }).click();
  await page.getByText("Cancelled", { exact: true }).waitFor();
  await expect.poll(run).toBe("cancelled");
  await page.getByRole("link", { name: "Conversation" }).click();
  await page.getByText(/Run r\d+ cancelled/).waitFor();
  await page.getByRole("button", { name: "Start run" }).waitFor();
  end();
});

test("a long history comes page by page, and little of it is kept", async () => {
  const long = await Story.bare(harness.api, "long");
  const some = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => ({ role: "user", content: `Message ${from + index}.` }));
  for (let from = 0; from < 100_000; from += 2_000) await long.say("main", "user", ...some(from, from + 2_000));
  const page = await harness.open("sessions/long/conversation");
  const articles = page.getByRole("article");
  const isFew = () => expect.poll(() => articles.count()).toBeLessThan(60);
  const firstNumber = async () => Number(/Message (\d+)\./.exec(await articles.first().innerText())?.[1]);
  await article(page, "Message 99999.").waitFor();
  await isFew();

  await page.getByRole("list", { name: "Messages" }).hover();
  for (let before = await firstNumber(); before > 99_500; before = await firstNumber()) {
    // Where no more is loaded yet, the wheel moves nothing.
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, -3_000);
        return firstNumber();
      })
      .toBeLessThan(before);
  }
  await isFew();
  await long.say("main", "user", ...some(100_000, 100_012));
  await page.getByRole("button", { name: "12 new messages" }).click();
  await article(page, "Message 100011.").waitFor();

  await page.getByRole("listitem").last().focus();
  await page.keyboard.press("Home");
  await article(page, /Message 0\./).waitFor();
  await isFew();
  // The next key is for the row that has the focus then.
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent ?? "")).toContain("Message 0.");
  await long.say("main", "user", ...some(100_012, 100_013));
  await page.getByRole("button", { name: "1 new message" }).waitFor();
  await page.keyboard.press("End");
  await article(page, "Message 100012.").waitFor();
  await page.getByRole("button", { name: "1 new message" }).waitFor({ state: "detached" });
});

test("a message from long ago is shown with what came after it", async () => {
  const page = await harness.open("sessions/long/conversation?entry=5000");
  await article(page, "Message 4997.").waitFor();
  await page.getByRole("list", { name: "Messages" }).hover();
  // Beyond what was loaded with it.
  const last = async () => Number(/Message (\d+)\./.exec(await page.getByRole("article").last().innerText())?.[1]);
  for (let before = await last(); before < 5_300; before = await last()) {
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, 3_000);
        return last();
      })
      .toBeGreaterThan(before);
  }
});

test("an agent sees its own threads, and nothing that it has no right to", async () => {
  const page = await harness.open("sessions/outage/conversation?as=critic");
  await article(page, "critic has looked at it.").waitFor();
  expect(await page.getByRole("link", { name: /^agent:researcher/ }).count()).toBe(0);
  expect(await page.content()).not.toContain(SECRET_DEADLINE);
  for (const name of ["Access", "Plan", "Variables", "Workflow", "Browser"])
    expect(await page.getByRole("link", { name, exact: true }).count()).toBe(0);
  expect(await page.getByRole("button", { name: "Start run" }).count()).toBe(0);
  await page.getByRole("textbox", { name: "Message" }).fill("I am not sure.");
  await page.getByRole("button", { name: "Send" }).click();
  await article(page, "I am not sure.").waitFor();
  await page.goto(`${harness.url}/sessions/outage/conversation?as=critic&entry=47`);
  await page.getByText("Entry 47 is not for you to see.").waitFor();
  await page.goto(`${harness.url}/sessions/outage/access?as=critic`);
  await page.getByText("Not for critic").waitFor();
});

for (const [theme, width] of [
  ["light", 1440],
  ["dark", 1440],
  ["light", 360],
] as const) {
  test(`nothing is wrong for readers of the page (${theme}, ${width} px)`, async () => {
    const page = await harness.open("sessions/outage/conversation", {
      colorScheme: theme,
      viewport: { width, height: 800 },
    });
    const views = {
      "conversation?entry=72": page.getByText("96 tokens"),
      // On a narrow page only the newest messages are in sight, and other tests add some.
      "conversation?as=critic": page.getByRole("article"),
      files: page.getByText("No context files yet"),
      steps: page.getByText("Active step"),
      access: page.getByText("No access tokens"),
    };
    for (const [view, shown] of Object.entries(views)) {
      await page.goto(`${harness.url}/sessions/outage/${view}`);
      await shown.first().waitFor();
      expect(await faultsOf(page), view).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth), view).toBeLessThanOrEqual(width);
    }
  });
}

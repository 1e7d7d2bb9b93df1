/** What holds for every view: its weight, its motion, and that it is as one left it. */

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

test("300 kB or less come over the wire before a view is opened, and nothing from elsewhere", async () => {
  const page = await harness.open("");
  const asked: Promise<{ url: string; bytes: number }>[] = [];
  page.on("requestfinished", (request) => {
    const sizes = request.sizes();
    asked.push(sizes.then((size) => ({ url: request.url(), bytes: size.responseBodySize + size.responseHeadersSize })));
  });
  await page.reload();
  await page.getByRole("link", { name: "Outage of 18 November" }).waitFor();
  await page.getByText("newest first").waitFor();
  const all = await Promise.all(asked);
  expect(all.map(({ url }) => url).filter((url) => !url.startsWith(harness.url))).toEqual([]);
  expect(all.some(({ url }) => url.endsWith(".js"))).toBe(true);
  expect(all.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(300_000);
});

test("where motion is to be reduced, nothing moves", async () => {
  const page = await harness.open("sessions/outage/conversation", { reducedMotion: "reduce" });
  await page.getByRole("article").first().waitFor();
  const moving = () =>
    page.evaluate(() =>
      [...document.querySelectorAll("*")].flatMap((element) => {
        const { transitionProperty, transitionDuration, animationName, animationDuration } = getComputedStyle(element);
        const moves =
          (transitionProperty !== "none" && /[1-9]/.test(transitionDuration)) ||
          (animationName !== "none" && /[1-9]/.test(animationDuration));
        return moves ? [element.outerHTML.slice(0, 120)] : [];
      }),
    );
  const views = {
    "Context sets": "Query findings",
    Plan: "Check refunds",
    Workflow: "Those of checkout",
    Prompt: "Not in this prompt",
    "Context size": "Stays word for word",
  };
  for (const [view, shown] of Object.entries(views)) {
    await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: view, exact: true }).click();
    await page.getByRole("heading", { level: 1, name: view }).waitFor();
    await page.getByText(shown, { exact: false }).first().waitFor();
    expect(await moving(), view).toEqual([]);
  }
});

test("a choice leaves the view as it is, and the view is found again with it", async () => {
  const page = await harness.open("sessions/outage/plan");
  const views = page.getByRole("navigation", { name: "Views" });
  const open = (view: string) => views.getByRole("link", { name: view, exact: true }).click();
  const pane = page.getByRole("main").locator(".pane").first();
  await page.getByRole("heading", { name: "Report" }).waitFor();
  await page.setViewportSize({ width: 1440, height: 300 });
  await pane.evaluate((element) => element.setAttribute("data-same", "yes"));
  await page.getByRole("combobox", { name: "Compare with" }).selectOption("1");
  await page.getByRole("listitem").filter({ hasText: "Find the deploy" }).getByText("pending → completed").waitFor();
  expect(await pane.getAttribute("data-same")).toBe("yes");
  await pane.evaluate((element) => element.scrollTo(0, 200));
  await expect.poll(() => pane.evaluate((element) => element.scrollTop)).toBe(200);

  await open("Files");
  await page.getByRole("heading", { level: 1, name: "Files" }).waitFor();
  await story.within("PATCH", "/plan/tasks/6", { status: "failed", reason: "critic is away" });
  await open("Plan");
  await page.waitForURL(/against=1/);
  await page.getByRole("listitem").filter({ hasText: "Find the deploy" }).getByText("pending → completed").waitFor();
  await expect.poll(() => pane.evaluate((element) => element.scrollTop)).toBe(200);
  // The link of the view that is open leads back to all of it.
  await open("Plan");
  await page.waitForURL((url) => !url.searchParams.has("against"));
});

test("the palette goes to what has a name, and does what the page can", async () => {
  const page = await harness.open("sessions/outage/conversation");
  await page.getByRole("article").first().waitFor();
  const go = async (words: string, option: string) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to" }).fill(words);
    const places = page.getByRole("listbox", { name: "Places" });
    await places.getByRole("option", { name: option, exact: true }).click();
  };
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Go to" }).fill("board meets on Friday");
  await page
    .getByRole("option", { name: /The board meets/ })
    .first()
    .waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await go("researcher", "agent:researcher");
  await page.waitForURL(/conversation\?thread=agent/);
  await go("of checkout", "node_2: Those of checkout");
  await page.getByRole("complementary", { name: "Those of checkout" }).waitFor();
  await go("deploys", "deploys");
  await page.waitForURL(/variables\?.*variable=deploys/);
  await go("dark", "Light or dark");
  await expect.poll(() => page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
  await go("all sess", "All sessions");
  await page.getByRole("link", { name: "Outage of 18 November" }).waitFor();
});

test("a key that comes before the browser has told of a closed dialog is not lost", async () => {
  const page = await harness.open("sessions/outage/conversation");
  await page.getByRole("article").first().waitFor();
  // What the browser tells is held up until the next Ctrl K is over.
  await page.evaluate(() => {
    const holdUp = (event: Event) => {
      if (!event.isTrusted) return;
      event.stopImmediatePropagation();
      const tell = () => event.target?.dispatchEvent(new Event("close"));
      window.addEventListener("keydown", ({ key }) => key === "k" && setTimeout(tell));
    };
    window.addEventListener("close", holdUp, true);
  });
  const palette = page.getByRole("combobox", { name: "Go to" });
  await page.keyboard.press("Control+k");
  await palette.fill("researcher");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await expect.poll(() => palette.inputValue()).toBe("");
  await page.keyboard.press("Escape");
  await expect.poll(() => palette.count()).toBe(0);
});

/**
 * Measures how fast the page is: with a thousand sessions, and over a hundred thousand messages. What it prints is read by
 * people; other work on the machine makes it slower, so nothing fails on a figure.
 */

import type { Page } from "playwright-core";

import { Harness } from "./harness";
import { Story } from "./story";

const SESSIONS = 1_000;
const NEWEST = `Session ${SESSIONS - 1}`;
const MESSAGES = 100_000;

export async function measure(): Promise<void> {
  const harness = await Harness.start();
  try {
    await makeSessions(harness);
    await firstView(harness);
    await event(harness);
    await makeLong(harness);
    await conversation(harness);
    await inspector(harness);
  } finally {
    await harness.stop();
  }
}

async function makeSessions({ api }: Harness): Promise<void> {
  for (let at = 0; at < SESSIONS; at += 1) {
    const id = `session-${at}`;
    const story = await Story.bare(api, id, ["critic"], { title: `Session ${at}` });
    await story.say("main", "user", { role: "user", content: `The first message of session ${at}.` });
  }
}

/** From the start of navigation until a row of the list is drawn. */
async function firstView(harness: Harness): Promise<void> {
  const cold = await each(5, async () => {
    const page = await harness.open("");
    const took = await drawn(page, NEWEST);
    await page.context().close();
    return took;
  });
  tell(`list of ${SESSIONS} sessions, cold`, cold, 600);
  const page = await harness.open("");
  const warm = await each(7, async () => {
    await page.goto(`${harness.url}/`);
    return drawn(page, NEWEST);
  });
  tell(`list of ${SESSIONS} sessions, warm`, warm, 300);
  await page.context().close();
}

/** When a text was drawn, in milliseconds since the start of navigation. */
async function drawn(page: Page, text: string): Promise<number> {
  await page.getByText(text, { exact: false }).first().waitFor();
  return page.evaluate(() => new Promise<number>((done) => requestAnimationFrame((at) => done(at))));
}

/** From the moment before an append is sent until what it says is drawn. */
async function event(harness: Harness): Promise<void> {
  const story = new Story(harness.api, "session-0");
  const page = await harness.open("sessions/session-0/conversation");
  await page.getByRole("article").first().waitFor();
  const took = await each(20, async (round) => {
    const text = `Event ${round} is there.`;
    const seen = page.evaluate(
      (text) =>
        new Promise<number>((done) => {
          const look = () => {
            if (!document.body.innerText.includes(text)) return false;
            watch.disconnect();
            requestAnimationFrame(() => done(Date.now()));
            return true;
          };
          const watch = new MutationObserver(look);
          watch.observe(document.body, { childList: true, subtree: true, characterData: true });
        }),
      text,
    );
    await page.evaluate(() => undefined);
    const sent = Date.now();
    await story.say("main", "user", { role: "user", content: text });
    return (await seen) - sent;
  });
  tell("an event on the screen after its append was sent", took, 100);
  await page.context().close();
}

async function makeLong({ api }: Harness): Promise<void> {
  const story = await Story.bare(api, "long", ["critic"], { prompt: { budget: 180_000 } });
  const words =
    "the pool of connections ran out after the deploy, and the queue grew until the workers stopped ".repeat(3);
  for (let from = 0; from < MESSAGES; from += 1_000) {
    const some = Array.from({ length: 1_000 }, (_, at) => ({
      role: "user",
      content: `Message ${from + at}: ${words}`,
    }));
    await story.say("main", "user", ...some);
  }
}

async function conversation(harness: Harness): Promise<void> {
  const last = `Message ${MESSAGES - 1}:`;
  const page = await harness.open("");
  const first = await each(5, async () => {
    await page.goto(`${harness.url}/sessions/long/conversation`);
    return drawn(page, last);
  });
  tell(`conversation of ${MESSAGES} messages, first view`, first, 1_000);

  await page.getByRole("list", { name: "Messages" }).hover();
  const frames = page.evaluate(
    () =>
      new Promise<number[]>((done) => {
        const times: number[] = [];
        const begun = performance.now();
        const next = (at: number) => {
          times.push(at);
          if (at - begun < 5_000) requestAnimationFrame(next);
          else done(times.slice(1).map((time, place) => time - (times[place] ?? time)));
        };
        requestAnimationFrame(next);
      }),
  );
  for (let step = 0; step < 100; step += 1) {
    await page.mouse.wheel(0, -400);
    await new Promise((done) => setTimeout(done, 40));
  }
  const gaps = await frames;
  const long = gaps.filter((gap) => gap > 50).length;
  const mean = (gaps.length / gaps.reduce((sum, gap) => sum + gap, 0)) * 1_000;
  console.log(`scrolling: ${mean.toFixed(0)} frames a second (goal: 50 or more), ${long} of ${gaps.length} over 50 ms`);
  const client = await page.context().newCDPSession(page);
  await client.send("HeapProfiler.collectGarbage");
  const { usedSize } = await client.send("Runtime.getHeapUsage");
  console.log(`memory of scripts after scrolling: ${(usedSize / 1e6).toFixed(0)} MB (goal: below 200 MB)`);
  await page.context().close();
}

/** From a move of the slider until the prompt of that entry is drawn. */
async function inspector(harness: Harness): Promise<void> {
  const page = await harness.open("sessions/long/prompt?agent=lead&thread=main");
  await page.getByRole("region", { name: "Prompt" }).getByText("Message", { exact: false }).first().waitFor();
  const slider = page.getByRole("slider", { name: "As of entry" });
  const took = await each(15, (round) =>
    slider.evaluate(
      (slider: HTMLInputElement, to) =>
        new Promise<number>((done) => {
          const region = document.querySelector('[role="region"][aria-label="Prompt"]');
          const begun = performance.now();
          const watch = new MutationObserver(() => {
            if (!region?.textContent?.includes(`Message ${to - 10}:`)) return;
            watch.disconnect();
            requestAnimationFrame(() => done(performance.now() - begun));
          });
          if (region) watch.observe(region, { childList: true, subtree: true, characterData: true });
          slider.value = String(to);
          slider.dispatchEvent(new Event("input", { bubbles: true }));
          setTimeout(() => done(Number.NaN), 10_000);
        }),
      MESSAGES - 5_000 * (round + 1) + round,
    ),
  );
  tell("inspector after a move of the slider", took, 100);
  await page.context().close();
}

async function each(rounds: number, measure: (round: number) => Promise<number>): Promise<number[]> {
  const all: number[] = [];
  for (let round = 0; round < rounds; round += 1) all.push(await measure(round));
  return all;
}

/** Prints the median of times in milliseconds, the least and the most of them, and what is wanted. */
function tell(what: string, figures: number[], goal: number): void {
  const sorted = figures.toSorted((one, other) => one - other);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN).toFixed(0);
  console.log(`${what}: ${at(0.5)} ms (${at(0)} to ${at(1)}; goal: ${goal} ms or less)`);
}

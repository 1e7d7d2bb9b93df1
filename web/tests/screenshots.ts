/** Takes a picture of each view in both themes, into the folder that `CALLBOARD_SCREENSHOTS` names. */

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Harness } from "./harness";
import { repack } from "./png";
import { Story } from "./story";

/** Each view with its address and a text that is there once all of it is. */
const VIEWS = [
  ["sessions", "", "Outage of 18 November"],
  ["conversation", "sessions/outage/conversation", "Note 30"],
  ["context-sets", "sessions/outage/context-sets", "Query findings"],
  ["plan", "sessions/outage/plan", "Check refunds"],
  ["workflow", "sessions/outage/workflow", "Those of checkout"],
  ["variables", "sessions/outage/variables", "api_key"],
  ["context", "sessions/outage/context?agent=lead", "Stays word for word"],
  ["prompt", "sessions/outage/prompt?agent=critic&thread=agent:critic&piece=set Query findings", "was shown it in"],
  ["compare", "sessions/outage/prompt?agent=critic&at=60&compare=agents&with=writer", "that writer sees"],
  ["timeline", "sessions/outage/timeline?entry=47&why=board meets on Friday", "Never shown to"],
  ["files", "sessions/outage/files", "refunds"],
  ["steps", "sessions/outage/steps", "research"],
  ["recall", "sessions/outage/recall?q=when did the pool run out", "Words:"],
  ["browser", "sessions/outage/browser", "Payments, minute by minute"],
  ["access", "sessions/outage/access", "Access"],
] as const;

/** Context files of the session, and their keywords. */
const FILES = [
  ["draft", "features", ["report", "board"], "Write two pages for the board, in plain words."],
  ["pool", "tasks", ["pool", "deploy"], "Prove which commit changed the size of the pool."],
  ["refunds", "tasks", ["refunds", "pool"], "Check whether refunds ran on the same pool."],
] as const;

/** What the team's browser looks at. */
const SITE = `<title>Payments, minute by minute</title><style>body{font:16px sans-serif;margin:40px}td{padding:4px 24px 4px 0}</style>
<h1>Payments, minute by minute</h1><table><tr><td>09:10<td>All payments go through</tr><tr><td>09:12<td>The pool is empty</tr>
<tr><td>09:47<td>All payments go through</tr></table>`;

/** Other sessions, so that the list has some. */
const OTHERS = [
  ["runbook", "Runbook of the payment service", "The steps are in order now; the critic reads them once more."],
  ["notes", "Release notes of 4.2", "Two changes are missing: the new limits, and the fix of the export."],
  ["hiring", "Questions for the interviews of December", "Ask for one thing they would build differently today."],
] as const;

export async function takeAll(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const project = await mkdtemp(join(tmpdir(), "callboard-project-"));
  const site = createServer((_, response) => response.setHeader("content-type", "text/html").end(SITE));
  await new Promise<void>((done) => site.listen(0, "127.0.0.1", done));
  const host = `127.0.0.1:${String((site.address() as AddressInfo).port)}`;
  process.env["CALLBOARD_BROWSER_ALLOW"] = host;
  const harness = await Harness.start(["--project", project]);
  try {
    for (const [id, title, content] of OTHERS) {
      const other = await Story.bare(harness.api, id, ["writer"], { title });
      await other.say("main", "user", { role: "user", content });
    }
    const story = new Story(harness.api, "outage");
    await story.tell({ hostile: false });
    for (const [name, category, keywords, request] of FILES) {
      await story.within("POST", "/files", { name, category, keywords, request, for: "writer" });
    }
    await story.within("POST", "/browser/open", { tab_name: "status", url: `http://${host}/payments` });
    await story.within("POST", "/browser/screenshot", { tab_name: "status" });
    for (const colorScheme of ["light", "dark"] as const) {
      for (const [view, path, shown] of VIEWS) {
        const page = await harness.open(encodeURI(path), { colorScheme, reducedMotion: "reduce" });
        await page.getByText(shown, { exact: false }).first().waitFor({ timeout: 60_000 });
        await page.waitForLoadState("networkidle", { timeout: 3_000 }).catch(() => undefined);
        await writeFile(join(folder, `${view}-${colorScheme}.png`), repack(await page.screenshot()));
        await page.context().close();
      }
    }
  } finally {
    await harness.stop();
    site.close();
    await rm(project, { recursive: true, force: true });
  }
}

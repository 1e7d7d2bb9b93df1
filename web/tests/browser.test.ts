import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, beforeAll, expect, test } from "vitest";

import { faultsOf } from "./axe";
import { Harness } from "./harness";
import { Story } from "./story";

let site: Server;
let address: string;
let harness: Harness;

beforeAll(async () => {
  site = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<title>Guide</title><h1>How tides work</h1>");
  });
  await new Promise<void>((done) => site.listen(0, "127.0.0.1", done));
  const host = `127.0.0.1:${String((site.address() as AddressInfo).port)}`;
  address = `http://${host}/guide`;
  process.env["CALLBOARD_BROWSER_ALLOW"] = host;
  harness = await Harness.start();
  await Story.bare(harness.api, "small");
});

afterAll(async () => {
  await harness.stop();
  site.close();
  delete process.env["CALLBOARD_BROWSER_ALLOW"];
});

test("a page is opened, pictured and closed, and what is refused says why", async () => {
  const page = await harness.open("sessions/small/browser");
  await page.getByText("No tab is open").waitFor();
  const field = page.getByRole("textbox", { name: "Address" });
  await field.fill("file:///etc/passwd");
  await page.getByRole("button", { name: "Open page" }).click();
  await page.getByRole("alert").waitFor();
  await field.fill(address);
  await page.getByRole("button", { name: "Open page" }).click();
  const row = page.getByRole("row").filter({ hasText: address });
  await row.getByText("Guide", { exact: true }).waitFor();
  await row.getByText("active", { exact: true }).waitFor();
  await row.getByRole("button", { name: "Take picture of Tab 1" }).click();
  const picture = page.getByRole("img", { name: /^The page at/ });
  await picture.waitFor();
  expect(
    await picture.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth)),
  ).toBeGreaterThan(100);
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("button", { name: /^Remove the picture/ }).click();
  await picture.waitFor({ state: "detached" });
  await page.goto(`${harness.url}/sessions/small/browser?as=lead`);
  await page.getByText(address).waitFor();
  expect(await page.getByRole("button", { name: /^Close/ }).count()).toBe(0);
  await page.goto(`${harness.url}/sessions/small/browser`);
  await page.getByRole("button", { name: "Close Tab 1" }).click();
  await page.getByText("No tab is open").waitFor();
});

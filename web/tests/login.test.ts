import { writeFile, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { Harness } from "./harness";

const TOKEN = "a-token-of-the-user-0123456789abcdef";
let harness: Harness;

beforeAll(async () => {
  const file = join(await mkdtemp(join(tmpdir(), "callboard-token-")), "tokens.txt");
  await writeFile(file, `${TOKEN}\n`);
  harness = await Harness.start(["--user-token-file", file]);
});

afterAll(() => harness.stop());

test("the page asks for the token, says when it is wrong, and keeps it nowhere", async () => {
  const page = await harness.open("");
  const field = page.getByRole("textbox", { name: "Token" });
  await field.fill("wrong");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("textbox", { name: "Token" }).and(page.locator("[aria-invalid=true]")).waitFor();
  // A browser that keeps no cookie is told so, not asked again without a word.
  await page.route("**/v1/me", (route) => route.fulfill({ status: 401, json: { detail: "no token came" } }), {
    times: 1,
  });
  await field.fill(TOKEN);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("no token came").waitFor();
  await field.fill(TOKEN);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor();
  expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]))).not.toContain(
    TOKEN,
  );
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor();
});

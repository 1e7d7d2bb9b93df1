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

test("a token of one session shows what it may, and nothing once it is revoked", async () => {
  const call = async (method: string, path: string, body: object | null = null) => {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const request = { method, headers, body: body && JSON.stringify(body) };
    const response = await fetch(`${harness.api}/v1/sessions${path}`, request);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === "" ? {} : JSON.parse(text)) as { id: string; token: string };
  };
  const agents = [
    { name: "lead", role: "manager" },
    { name: "critic", role: "worker" },
  ];
  await call("POST", "", { id: "one", title: "Of one token", agents });
  await call("PUT", "/one/context-sets/Brief", { content: "Known to critic.", visible_to: ["critic"] });
  const ofCritic = await call("POST", "/one/tokens", { agent: "critic", expires_in: null });
  const page = await harness.open("sessions/one/context-sets?set=Brief");
  const field = page.getByRole("textbox", { name: "Token" });
  await field.fill(ofCritic.token);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("Known to critic.").first().waitFor();
  await page.getByText(/Live\s+#\d+/).waitFor();
  expect(await page.getByRole("link", { name: "Access", exact: true }).count()).toBe(0);
  await call("DELETE", `/one/tokens/${ofCritic.id}`);
  // The stream ends before its next event.
  await call("PUT", "/one/context-sets/Brief", { content: "Known to critic no more.", visible_to: ["critic"] });
  await field.waitFor();
  expect(await page.content()).not.toContain("Known to critic");

  const ofUser = await call("POST", "/one/tokens", { role: "user", expires_in: null });
  await field.fill(ofUser.token);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("link", { name: "Access", exact: true }).waitFor();
  expect(await page.getByRole("link", { name: "Sessions", exact: true }).count()).toBe(0);
  // The list of sessions is not for it, so it is led to its own.
  await page.goto(`${harness.url}/`);
  await page.waitForURL(/sessions\/one\/conversation/);
  await page.getByText("written, 6 tokens").waitFor();
});

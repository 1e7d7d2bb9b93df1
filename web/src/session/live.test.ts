import { expect, test } from "vitest";

import type { Entry } from "../api/types";
import { matters } from "./live.svelte";

const entry = (type: string) => ({ type }) as Entry;

test("what hides words matters to all, and who decides by a function hears of it", () => {
  expect(matters(["plan."], entry("plan.updated"))).toBe(true);
  expect(matters(["plan."], entry("message.added"))).toBe(false);
  const heard: string[] = [];
  const hear = ({ type }: Entry) => heard.push(type) < 0;
  expect(["message.added", "entry.erased", "secret.hidden"].map((type) => matters(hear, entry(type)))).toEqual([
    false,
    true,
    true,
  ]);
  expect(heard).toEqual(["message.added", "entry.erased", "secret.hidden"]);
});

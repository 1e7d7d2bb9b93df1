import { expect, test } from "vitest";

import type { Entry } from "../api/types";
import { isOfSight } from "./journal";
import { matters } from "./live.svelte";

const entry = (type: string) => ({ type }) as Entry;

test("what an agent is told of words that were hidden matters to all, too", () => {
  expect(matters(["plan."], entry("entries.changed"))).toBe(true);
});

test("what changes the sight of an agent is known", () => {
  const types = ["thread.deleted", "thread.updated", "agent.updated", "context_set.deleted", "document.removed"];
  expect(types.every((type) => isOfSight(entry(type)))).toBe(true);
  expect(["message.added", "context_set.updated"].some((type) => isOfSight(entry(type)))).toBe(false);
});

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

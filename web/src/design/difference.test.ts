import { expect, test } from "vitest";

import { rowsOf } from "./difference";

const numbered = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name} ${at}`).join("\n");

test("lines far from a change fold", () => {
  const before = numbered("line", 9);
  expect(rowsOf(before, before)).toEqual([{ unchanged: 9 }]);
  expect(rowsOf(before, before.replace("line 4", "new"))).toEqual([
    { unchanged: 2 },
    { sign: " ", text: "line 2" },
    { sign: " ", text: "line 3" },
    { sign: "−", text: "line 4" },
    { sign: "+", text: "new" },
    { sign: " ", text: "line 5" },
    { sign: " ", text: "line 6" },
    { unchanged: 2 },
  ]);
});

test("long texts that have little in common stand one after the other", () => {
  const rows = rowsOf(`same\n${numbered("old", 50_000)}`, `same\n${numbered("new", 50_000)}`);
  expect(rows).toHaveLength(100_002);
  expect([rows[0], rows[50_001]]).toEqual([
    { sign: "−", text: "same" },
    { sign: "+", text: "same" },
  ]);
});

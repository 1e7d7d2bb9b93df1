import { expect, test } from "vitest";

import { toggled } from "./sets";

const team = ["lead", "writer", "critic"];

test("an agent joins the audience in the team's order", () => {
  expect(toggled(["critic"], "lead", team)).toEqual(["lead", "critic"]);
  expect(toggled("none", "writer", team)).toEqual(["writer"]);
});

test("an agent leaves the audience", () => {
  expect(toggled("all", "critic", team)).toEqual(["lead", "writer"]);
  expect(toggled("writer", "writer", team)).toBe("none");
});

test("when everybody sees it, later agents do too", () => {
  expect(toggled(["lead", "writer"], "critic", team)).toBe("all");
});

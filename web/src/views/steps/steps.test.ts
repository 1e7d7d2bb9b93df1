import { expect, test } from "vitest";

import { conditionWords, runsOf, toolWords } from "./steps";

test("conditions are told in words", () => {
  expect(conditionWords({ type: "tool_used", value: "search" })).toBe("search was used");
  expect(conditionWords({ not: { any: [{ type: "sequence_match" }, { type: "tool_used", value: "a" }] } })).toBe(
    "not (the last tools match its sequence or a was used)",
  );
});

test("tools of a step are told in words", () => {
  expect(toolWords({ name: "s" })).toBe("All tools.");
  expect(toolWords({ name: "s", available_tools: { allowed: ["a"], denied: ["b"] } })).toBe("Tools: a. Not: b.");
});

test("the newest tools come first, and repeats stand once", () => {
  expect(runsOf(["a", "b", "b"])).toEqual([
    { tool: "b", times: 2 },
    { tool: "a", times: 1 },
  ]);
});

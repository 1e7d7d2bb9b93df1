import { expect, test } from "vitest";

import { align, amount } from "./compare";
import { bytesOf, sectionsOf, stretches, type Prompt } from "./pieces";

const PLAIN = {
  budget: 100,
  counting: "exact",
  parts: [],
  reusable_prefix_tokens: 0,
  seq: 9,
  tokens: 9,
  vocabulary: "v",
};
const at = (part: string, start: number, end: number, more: object = {}) => ({
  part,
  start,
  end,
  tokens: end - start,
  shortened: false,
  ...more,
});
const piecesOf = (prompt: Prompt) => sectionsOf(prompt).flatMap((section) => section.pieces);

test("places count code points, and the pieces together are the text", () => {
  const text = '🦀 team\n<CONTEXT_SET name="a &quot;b&quot;">\n日本語\n</CONTEXT_SET>\n';
  const length = Array.from(text).length;
  const prompt = { ...PLAIN, text, pieces: [at("team", 0, 7), at("context_sets", 7, length, { seq: 5 })] } as Prompt;
  const pieces = piecesOf(prompt);
  expect(pieces.map((piece) => piece.text).join("")).toBe(text);
  expect(pieces[1]).toMatchObject({ kind: "set", title: 'a "b"', seq: 5, key: 'set a "b"' });
  expect(bytesOf(prompt)).toBe(text);
});

test("a message is known by its entry, in the history as in the task", () => {
  const text = '<HISTORY>\n<CHAT_MESSAGE from="lead">\nhi\n</CHAT_MESSAGE>\n</HISTORY>\n';
  const [start, end] = [text.indexOf("<CHAT"), text.indexOf("</HISTORY>")];
  const pieces = [at("history", 0, start), at("history", start, end, { seq: 7 }), at("history", end, text.length)];
  const found = piecesOf({ ...PLAIN, text, pieces } as Prompt);
  expect(found.map((piece) => piece.title)).toEqual(["History", "lead", "History"]);
  expect(found.map((piece) => piece.key)).toEqual(["part history", "entry 7", "part history (2)"]);
});

test("variables are known by their names, and what a director's history says by its entries", () => {
  const parts = ["WORKFLOW VARIABLES:\n", '- deploy = "4be91c7"\n', "User 1: hi\n"];
  const [head, variable] = [parts[0]!.length, parts[1]!.length];
  const text = parts.join("");
  const pieces = [
    at("workflow_variables", 0, head),
    at("workflow_variables", head, head + variable, { seq: 4 }),
    at("conversation_history", head + variable, text.length, { seq: 7 }),
  ];
  const found = piecesOf({ ...PLAIN, text, pieces } as Prompt);
  expect(found.map((piece) => piece.key)).toEqual(["part workflow_variables", "variable deploy", "entry 7"]);
});

test("messages of a provider's format are sections with their roles and calls", () => {
  const messages = [
    { role: "user", content: "ab" },
    { role: "assistant", content: null, tool_calls: [{ id: "c" }] },
  ];
  const pieces = [at("history", 0, 1, { message: 0, seq: 3 }), at("task", 1, 2, { message: 0, seq: 4 })];
  const sections = sectionsOf({ ...PLAIN, messages, pieces } as Prompt);
  expect(sections.map((section) => section.role)).toEqual(["user", "assistant"]);
  expect(sections[0]?.pieces.map((piece) => piece.seq)).toEqual([3, 4]);
  expect(sections[1]?.pieces[0]?.text).toContain('"id":"c"');
});

test("notes are told from the rest in what was shortened, and only there", () => {
  const text = "a\n[shortened here: it has 9 tokens]\nb";
  const [piece] = piecesOf({ ...PLAIN, text, pieces: [at("team", 0, text.length, { shortened: true })] } as Prompt);
  expect(stretches(piece!).map((one) => one.isNote)).toEqual([false, true, false]);
  expect(stretches({ ...piece!, shortened: false })).toHaveLength(1);
});

test("pieces of two prompts stand beside each other by what they are", () => {
  const make = (...sets: [string, string][]) => {
    const texts = sets.map(([name, words]) => `<CONTEXT_SET name="${name}">\n${words}\n</CONTEXT_SET>\n`);
    const places = texts.map((text, index) => {
      const start = texts.slice(0, index).join("").length;
      return at("context_sets", start, start + text.length, { seq: index + 1 });
    });
    return piecesOf({ ...PLAIN, text: texts.join(""), pieces: places } as Prompt);
  };
  const rows = align(make(["Brief", "x"], ["Plan", "1"], ["Hidden", "h"]), make(["Brief", "x"], ["Plan", "2"]));
  expect(rows.map((row) => row.kind)).toEqual(["same", "changed", "left"]);
  expect(amount(rows, "left")).toBe("1 set");
  expect(amount(rows, "right")).toBe("");
});

test("messages that one of two prompts has alone stand before what both have next", () => {
  const make = (...seqs: number[]) => {
    const text = seqs.map((seq) => `${seq % 10}`).join("");
    const pieces = seqs.map((seq, index) => at("history", index, index + 1, { seq }));
    return piecesOf({ ...PLAIN, text, pieces } as Prompt);
  };
  const rows = align(make(1, 2, 3, 9), make(4, 2, 5, 9, 6));
  const seqsOf = (row: (typeof rows)[number]) => ("pieces" in row ? row.pieces.map((piece) => piece.seq) : []);
  expect(rows.map((row) => [row.kind, ...seqsOf(row)])).toEqual([
    ["left", 1],
    ["right", 4],
    ["same", 2],
    ["left", 3],
    ["right", 5],
    ["same", 9],
    ["right", 6],
  ]);
  const many = (from: number) => make(...Array.from({ length: 20_000 }, (_, index) => from + index));
  expect(align(many(0), many(50_000)).map((row) => row.kind)).toEqual(["left", "right"]);
});

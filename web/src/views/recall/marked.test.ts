import { expect, test } from "vitest";

import { marked } from "./marked";

const terms = (text: string, ...words: string[]) =>
  marked(text, words)
    .filter((one) => one.isTerm)
    .map((one) => one.text);

test("the words of a question are marked in any case and with their endings, never within other words", () => {
  expect(terms("The Pool, pools and carpool (4.5)", "pool", "4.5")).toEqual(["Pool", "pools", "4.5"]);
  expect(marked("a.b axb", ["a.b"]).map((one) => one.text)).toEqual(["a.b", " axb"]);
});

test("a text is whole again when its stretches are joined", () => {
  expect(
    marked("Größer als 日本語", ["größer", "日本語"])
      .map((one) => one.text)
      .join(""),
  ).toBe("Größer als 日本語");
});

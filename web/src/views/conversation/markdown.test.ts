import { expect, test } from "vitest";

import { htmlOf } from "./markdown";

test("what was written as HTML, or as a picture, is text", () => {
  expect(htmlOf("a <b onclick='x'>c</b>")).toBe("<p>a &lt;b onclick=&#39;x&#39;&gt;c&lt;/b&gt;</p>\n");
  expect(htmlOf("![a](https://b.example/c.png)")).toBe("<p>![a](https://b.example/c.png)</p>\n");
});

test("what is nested deeper than can be read stays as it is", () => {
  expect(htmlOf("> ".repeat(10_000))).toBe(`<pre>${"&gt; ".repeat(10_000)}</pre>`);
  expect(htmlOf("- ".repeat(10_000) + "<i>")).toBe(`<pre>${"- ".repeat(10_000)}&lt;i&gt;</pre>`);
});
